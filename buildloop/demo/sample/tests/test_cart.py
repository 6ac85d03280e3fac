import unittest

from shop.cart import discounted


class Cart(unittest.TestCase):
    def test_member_at_the_limit(self):
        self.assertEqual(discounted(100, member=True), 85)

    def test_stranger_below_the_limit(self):
        self.assertEqual(discounted(99, member=False), 99)
