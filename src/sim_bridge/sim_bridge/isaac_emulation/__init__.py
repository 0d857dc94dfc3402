"""How Isaac Sim treats joints."""
