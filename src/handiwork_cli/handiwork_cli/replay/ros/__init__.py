"""The parts of replays that need messages."""
