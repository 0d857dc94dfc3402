"""Serialized messages, read and written without deserialization."""
