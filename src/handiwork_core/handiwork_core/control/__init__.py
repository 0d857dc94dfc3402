"""Controllers of arms and grippers, driven by measured joints alone: whatever measures them, and whatever obeys."""
