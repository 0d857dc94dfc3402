"""The flight recorder: what a run has seen and done, in memory, and a bundle of it when the goal does not succeed."""
