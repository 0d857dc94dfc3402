"""The same predicates for thousands of worlds at once: arrays in, arrays out. No ROS, no simulator.

``evaluate(ObjectInContainer("cube", "bin"), worlds).margin`` is one number for each world.
"""

from .decide import Verdicts, advance, evaluate
from .worlds import Poses, Worlds

__all__ = ["Poses", "Verdicts", "Worlds", "advance", "evaluate"]
