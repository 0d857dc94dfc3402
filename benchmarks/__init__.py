"""Measurements of Handiwork; each file says what it measures. Nothing of the product imports this."""
