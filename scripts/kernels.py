"""The commands that compile the kernels that Numba keeps beside the packages, so that no first start has to wait."""

from __future__ import annotations

from pathlib import Path


def kernel_commands(python: Path, robot: Path) -> tuple[dict[str, list[str]], ...]:
    """Return the commands by name, in stages: those of a stage may run side by side, a later one needs the former.

    Args:
        python: The interpreter of the environment in which the packages are installed.
        robot: The folder of a robot; its kernels serve every robot.
    """
    module = [str(python), "-m"]
    return (
        {
            "planner kernels": [*module, "planner_node.compile_kernels", str(robot)],
            "condition kernels": [str(python), "-c", "import conditionals_node.predicates"],
            "safety kernels": [*module, "handiwork_core.safety.compile_kernels", str(robot)],
        },
        {
            "decider kernels": [*module, "decider_node.compile_kernels", str(robot)],
            "perception kernels": [*module, "perception_bridge.compile_kernels"],
            "field kernels": [*module, "planner_node.compile_field_kernels"],
        },
    )
