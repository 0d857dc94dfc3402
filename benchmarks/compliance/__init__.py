"""Benchmarks of arms that yield to a force: insertion, pressing and wiping."""
