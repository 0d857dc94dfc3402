"""A running stack with records of its topics."""
