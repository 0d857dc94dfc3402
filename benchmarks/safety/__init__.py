"""What the safety layer costs, and how fast it stops planted faults."""
