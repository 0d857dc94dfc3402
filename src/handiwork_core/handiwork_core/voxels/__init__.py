"""Space as cells that are occupied or free."""
