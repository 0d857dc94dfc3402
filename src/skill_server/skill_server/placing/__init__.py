"""Poses at which a held object can be put down, and the check that it was."""
