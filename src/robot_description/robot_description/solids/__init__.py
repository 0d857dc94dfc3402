"""Collision shapes as solids."""
