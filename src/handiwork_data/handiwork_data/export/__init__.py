"""Data sets in the formats of other projects."""
