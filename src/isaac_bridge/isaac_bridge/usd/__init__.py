"""A scene and a robot as an OpenUSD stage with the physics that Isaac Sim reads."""
