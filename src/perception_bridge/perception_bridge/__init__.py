"""The objects of the world, as detectors see them."""
