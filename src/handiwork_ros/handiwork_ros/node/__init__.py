"""The node that every process runs: life cycle, status, unique name, supervision."""
