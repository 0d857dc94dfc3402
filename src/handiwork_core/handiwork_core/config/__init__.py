"""Strict loading of configuration."""
