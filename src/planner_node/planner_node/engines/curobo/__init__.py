"""The cuRobo engine's parts. Nothing here imports torch or cuRobo before ``cuda.load`` is called."""
