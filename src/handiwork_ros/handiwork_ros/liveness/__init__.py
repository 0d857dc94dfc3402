"""Which nodes and processes are alive."""
