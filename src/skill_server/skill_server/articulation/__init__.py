"""Drawers, doors and knobs: where they are held and how they move."""
