"""Solids, contacts and orientations that several skills share."""
