"""Obstacles that nobody modelled: depth images and clouds become occupied cells."""
