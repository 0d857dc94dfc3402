"""Publishes whether task conditions hold, with evidence."""
