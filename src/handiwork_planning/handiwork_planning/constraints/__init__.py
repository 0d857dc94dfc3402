"""Motions that hold parts of the tool's pose."""
