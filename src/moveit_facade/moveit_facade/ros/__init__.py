"""The topics, services and actions of move_group."""
