"""Faults at random against a running stack, judged by what really happened; ``handiwork chaos``."""
