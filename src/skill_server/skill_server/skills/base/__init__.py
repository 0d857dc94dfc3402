"""Skills that drive a mobile base."""
