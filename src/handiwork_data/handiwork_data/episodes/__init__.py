"""One episode: its settings, its run, its record and its file."""
