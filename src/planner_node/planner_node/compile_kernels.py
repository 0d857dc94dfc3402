"""Compile the engine's kernels ahead of its first start: ``python -m planner_node.compile_kernels ROBOT_FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from handiwork_core.model.geometry import Pose
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.cpu_engine import CpuEngine


def main() -> None:
    """Compile the kernels by loading the CPU engine once. They do not depend on the robot: any one will do."""
    CpuEngine(load_robot(Path(sys.argv[1])), Pose.identity(), lambda _share, _what: None)


if __name__ == "__main__":
    main()
