"""Campaigns of faults against a running stack."""
