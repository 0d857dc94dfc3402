"""Motions that a force on the tool ends."""
