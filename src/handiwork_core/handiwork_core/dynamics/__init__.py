"""Masses and inertias: of solids, of the links of a robot, and of what an arm carries."""
