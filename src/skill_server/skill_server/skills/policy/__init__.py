"""The skill that runs a learned policy."""
