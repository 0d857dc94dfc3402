"""Messages of the world, checked as they arrive."""
