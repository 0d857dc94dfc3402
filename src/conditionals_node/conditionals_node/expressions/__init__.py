"""Expressions over predicates: text, values, definitions."""
