"""Conditions over time."""
