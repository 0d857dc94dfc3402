"""Simulators: speed, the wire of Isaac Sim, and exported stages."""
