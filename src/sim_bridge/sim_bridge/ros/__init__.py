"""The topics and services of the simulation."""
