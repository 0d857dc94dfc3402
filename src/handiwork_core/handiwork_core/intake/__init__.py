"""Checks of what other processes and files send, and of their silence."""
