"""Policies in a simulation that waits for them."""
