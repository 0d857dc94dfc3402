"""The messages of the world, checked as they arrive."""
