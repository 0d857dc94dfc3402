"""Runs the commands of a skill on an arm, one after another."""
