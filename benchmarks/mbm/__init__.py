"""MotionBenchMaker's planning problems, an independent referee, and the product's engine beside other planners."""
