"""The actions of move_group."""
