"""Tasks as stages of condition sequences: their machine, their file, their progress."""
