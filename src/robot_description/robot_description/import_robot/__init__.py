"""A robot worked out from its URDF."""
