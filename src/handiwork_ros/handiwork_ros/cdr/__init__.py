"""Reads and writes serialized messages (CDR) without deserialization: one table of fields, one codec."""
