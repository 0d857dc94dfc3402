"""Arguments of predicates: their kinds, their checks and their text."""
