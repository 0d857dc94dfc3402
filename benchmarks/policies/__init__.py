"""Benchmarks of learned policies and their guard."""
