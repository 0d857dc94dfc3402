"""Motion planning on any CPU, and an independent validation of trajectories."""
