"""The worlds as predicates see them: one or many."""
