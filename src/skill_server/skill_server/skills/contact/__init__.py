"""Skills that touch: motions that end by contact, insertion, pressing and wiping."""
