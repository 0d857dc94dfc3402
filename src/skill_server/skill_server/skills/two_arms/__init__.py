"""Skills that need two arms at once."""
