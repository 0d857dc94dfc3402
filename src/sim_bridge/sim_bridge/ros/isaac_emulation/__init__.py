"""The topics and services of Isaac Sim, for tests of its adapter."""
