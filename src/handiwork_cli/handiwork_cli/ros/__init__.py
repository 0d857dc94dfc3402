"""Calls of services by commands."""
