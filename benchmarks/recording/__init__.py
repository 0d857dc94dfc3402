"""Recordings, bundles and replays: what they cost, and whether they are whole."""
