"""Evaluations of policies: many episodes against task files, their results, tables and comparisons."""
