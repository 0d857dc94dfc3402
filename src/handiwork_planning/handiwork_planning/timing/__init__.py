"""Time parameterization of paths."""
