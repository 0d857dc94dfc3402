"""Cameras in simulation: the world as it is published, drawn by the simulator in a process of its own."""
