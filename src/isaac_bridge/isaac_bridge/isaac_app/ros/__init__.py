"""Topics that the bridge's graph cannot serve."""
