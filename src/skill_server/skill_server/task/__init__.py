"""Task files: what they say, whether it can be done, and doing it."""
