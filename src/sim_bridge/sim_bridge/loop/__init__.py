"""The threads that run it."""
