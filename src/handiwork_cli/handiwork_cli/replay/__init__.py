"""Bundles of the flight recorder: what happened, and the same run once more in this process."""
