"""The tasks of this project in the harnesses of others."""
