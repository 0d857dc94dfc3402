"""Recorded vectors and stand-ins."""
