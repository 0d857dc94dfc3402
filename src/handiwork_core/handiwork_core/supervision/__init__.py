"""Supervision of a running motion."""
