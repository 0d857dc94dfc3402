"""Nodes and their processes: start, rest, memory, and how their end is found."""
