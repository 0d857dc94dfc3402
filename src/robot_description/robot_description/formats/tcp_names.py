"""Names that makers give to the tool centre point of a gripper."""

from __future__ import annotations

import re

TCP_WORDS = re.compile(r"tcp|tool_?cent|grasp|pinch|tool_?frame|gripper_?frame", re.IGNORECASE)
"""Found in the name of a link or site that is a tool centre point."""
