"""A running stack with records of what it did."""
