"""The standard services of simulators."""
