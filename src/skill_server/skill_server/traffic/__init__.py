"""Several arms of one robot at once: who moves where, who waits for whom, and who makes room."""
