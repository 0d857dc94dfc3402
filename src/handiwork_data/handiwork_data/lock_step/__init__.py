"""The ports of skills and tasks on a simulation that advances only while they wait."""
