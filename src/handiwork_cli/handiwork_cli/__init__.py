"""The handiwork command: launch, demo, goals, soak and fault injection."""
