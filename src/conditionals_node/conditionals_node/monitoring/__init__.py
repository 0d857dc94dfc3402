"""The values of conditions over time."""
