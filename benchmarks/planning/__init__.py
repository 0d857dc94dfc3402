"""Requests to the planner: the demo's, many at once, and the second opinion on trajectories."""
