"""The same predicates for thousands of worlds at once: arrays in, arrays out. No ROS, no simulator.

``evaluate(ObjectInContainer("cube", "bin"), worlds).margin`` is one number for each world.
"""

from conditionals_node.views.batch_worlds import Poses, Worlds

from .decide import Verdicts, advance, evaluate

__all__ = ["Poses", "Verdicts", "Worlds", "advance", "evaluate"]
