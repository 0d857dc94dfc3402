"""A network between two namespaces that loses and delays packets by a seed, for ``handiwork chaos --network``."""
