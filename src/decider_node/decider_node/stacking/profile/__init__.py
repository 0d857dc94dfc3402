"""What a cell's file can choose of the stacking network: its decisions, times, funnels and regions."""
