"""Reading and writing of the messages of MoveIt."""
