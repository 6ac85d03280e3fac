import unittest

from shop.receipt import receipt


class Receipt(unittest.TestCase):
    def test_receipt(self):
        self.assertEqual(receipt(1250), "to pay: 12.50")
