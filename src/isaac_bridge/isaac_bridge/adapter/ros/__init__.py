"""The topics and services of the adapter."""
