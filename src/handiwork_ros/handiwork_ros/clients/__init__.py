"""Clients of the skill server."""
