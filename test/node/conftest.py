"""Fixtures of every test of this folder."""

from support.nodes.bare_stack import bare, stack  # noqa: F401 - fixtures of every test here
