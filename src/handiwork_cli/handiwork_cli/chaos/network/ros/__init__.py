"""The two ends of the network: the stack with its trials, and the client that sends the goals."""
