"""The threads of the simulation."""
