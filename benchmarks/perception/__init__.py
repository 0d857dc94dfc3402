"""What perception costs, and what skills do with what it sees."""
