"""The parameters of skills: how they are read, checked and listed."""
