"""The probability that the noise of measured poses turns a verdict."""
