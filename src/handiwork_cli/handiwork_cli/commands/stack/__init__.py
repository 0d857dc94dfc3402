"""Commands that start or test a stack."""
