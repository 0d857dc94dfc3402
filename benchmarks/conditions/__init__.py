"""What predicates and the node that watches them cost."""
