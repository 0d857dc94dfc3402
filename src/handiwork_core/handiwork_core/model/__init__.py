"""Values that every package shares: geometry, the world, outcomes, trajectories."""
