"""Robots and shapes for tests of the planner."""
