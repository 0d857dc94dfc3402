"""Coloured cubes from a running belt into two bins: a second application of the same parts."""
