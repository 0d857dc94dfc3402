"""The services of the planner."""
