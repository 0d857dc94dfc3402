"""The services and messages of the monitor."""
