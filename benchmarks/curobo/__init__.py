"""Measurements that need an NVIDIA GPU: ``python -m benchmarks.curobo``."""
