"""The base of the node of every process: life cycle, status, unique name, supervision."""
