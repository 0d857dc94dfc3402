"""A real suction cup behind the suction interface."""
