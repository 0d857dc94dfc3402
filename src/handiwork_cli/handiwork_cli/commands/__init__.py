"""The subcommands of ``handiwork``, one file each."""
