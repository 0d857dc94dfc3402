"""The steps from a checked request to the engine's answer."""
