"""Collision checks of configurations and motions."""
