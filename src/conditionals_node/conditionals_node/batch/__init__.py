"""The same code for thousands of worlds at once: arrays in, arrays out. No ROS, no simulator.

``evaluate(ObjectInContainer("cube", "bin"), worlds).margin`` is one number for each world.
``BatchJudge`` follows a task.
"""

from conditionals_node.expressions.decide import Verdicts, advance, evaluate, evaluate_expression
from conditionals_node.views.batch_worlds import Poses, Worlds

from .judge import BatchJudge, BatchVerdicts

__all__ = [
    "BatchJudge",
    "BatchVerdicts",
    "Poses",
    "Verdicts",
    "Worlds",
    "advance",
    "evaluate",
    "evaluate_expression",
]
