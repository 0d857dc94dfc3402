"""The messages of MoveIt."""
