"""The life of verdicts: first true, how long, confirmed at rest."""
