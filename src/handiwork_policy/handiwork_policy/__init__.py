"""Learned policies behind a guard, judged by conditions."""
