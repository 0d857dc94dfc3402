"""Grasp candidates for grippers and suction cups."""
