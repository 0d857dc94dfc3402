"""Reads a task file into a ``Task``, with every fault and its place."""
