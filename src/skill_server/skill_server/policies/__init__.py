"""Runs of learned policies on an arm, over the ports of a skill."""
