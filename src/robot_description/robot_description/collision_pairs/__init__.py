"""Pairs of links that need no collision check."""
