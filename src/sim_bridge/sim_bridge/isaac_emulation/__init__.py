"""The treatment of joints by Isaac Sim."""
