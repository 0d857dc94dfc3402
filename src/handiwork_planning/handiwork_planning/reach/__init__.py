"""Where an arm reaches, from how many sides, and how well it moves there."""
