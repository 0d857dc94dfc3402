"""An independent check of trajectories, which shares no code with the planner."""
