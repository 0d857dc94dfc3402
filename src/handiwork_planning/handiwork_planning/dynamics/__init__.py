"""Torques of the joints along a motion, and the limits that they set."""
