"""Controllers of arms and grippers. Their only input is measured joints, from any source, for any driver."""
