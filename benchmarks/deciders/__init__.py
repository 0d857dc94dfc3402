"""Networks of deciders: the time of a tick, and the sorting of cubes."""
