"""Episodes from recordings of a running stack, so that simulation and real arms are exported alike."""
