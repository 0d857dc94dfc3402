"""Nodes of the backend check."""
