"""Evaluations of policies for a person to look at, and for other harnesses."""
