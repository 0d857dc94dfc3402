"""The process: its supervision, folders, ports and log lines."""
