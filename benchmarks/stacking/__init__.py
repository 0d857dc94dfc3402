"""The bin-stacking cell in simulation: seeds, disturbances, a live view."""
