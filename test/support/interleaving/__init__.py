"""Threads whose steps a seed puts in order."""
