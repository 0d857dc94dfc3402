"""Curves of the tool: lines, arcs and blends between them. Pure geometry."""
