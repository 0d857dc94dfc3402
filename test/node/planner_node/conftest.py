"""A planner node for each test of this folder."""

from support.nodes.planner_bench import bench  # noqa: F401 - a fixture
