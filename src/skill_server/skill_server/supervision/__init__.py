"""Supervision of a motion that is under way."""
