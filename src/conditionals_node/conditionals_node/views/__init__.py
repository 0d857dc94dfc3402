"""What predicates may ask of one world or of many."""
