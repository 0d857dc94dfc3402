"""Its topics and services."""
