"""Runs and supervises processes."""
