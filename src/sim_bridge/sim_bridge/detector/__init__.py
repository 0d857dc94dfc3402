"""A detector in simulation: the true poses, as an imperfect detector reports them."""
