"""Liveness of nodes and processes."""
