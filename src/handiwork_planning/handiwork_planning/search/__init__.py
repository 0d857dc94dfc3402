"""Searches for collision-free paths."""
