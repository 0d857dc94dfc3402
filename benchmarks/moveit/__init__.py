"""MotionBenchMaker's problems as motion plan requests of MoveIt: success, validity, and what the facade adds."""
