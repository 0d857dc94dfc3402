"""How well a policy did, by conditions."""
