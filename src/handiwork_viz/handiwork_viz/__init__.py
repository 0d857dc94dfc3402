"""Films of simulated scenes, and pages that show robots."""
