"""From a checked request to the engine's answer."""
