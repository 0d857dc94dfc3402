"""Skills that pick up, hold, turn and put down objects."""
