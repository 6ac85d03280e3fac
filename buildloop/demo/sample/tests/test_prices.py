import unittest

from shop.prices import total


class Prices(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1000, 250]), 1250)

    def test_nothing(self):
        self.assertEqual(total([]), 0)
