"""Judges a simulator or a robot by the robot-and-world contract: docs/reference/backend-contract.md."""
