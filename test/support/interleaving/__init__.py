"""Threads whose steps are ordered by a seed."""
