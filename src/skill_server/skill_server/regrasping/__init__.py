"""Regrasps: stable placements of an object, free spots, and the search for the shortest chain of grasps."""
