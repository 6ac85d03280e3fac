"""Discounts: 10 % from 100 up, and a further 5 off for members."""


def discounted(amount, member):
    reduced = amount * 90 // 100 if amount > 100 else amount
    return reduced - 5 if member else reduced
