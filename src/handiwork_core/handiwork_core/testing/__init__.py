"""Fakes of all ports and contract tests, for the authors of plug-ins as for our own tests."""
