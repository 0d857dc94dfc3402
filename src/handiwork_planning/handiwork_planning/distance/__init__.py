"""Distances between shapes: primitives, triangles, meshes and hulls."""
