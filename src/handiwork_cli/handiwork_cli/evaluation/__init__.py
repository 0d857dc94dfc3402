"""Evaluations of policies for a person to look at."""
