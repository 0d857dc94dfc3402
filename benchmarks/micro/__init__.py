"""Small figures, one file each: ``python -m benchmarks.micro.<name>``. Times are processor time."""
