"""Skills for drawers, doors and knobs."""
