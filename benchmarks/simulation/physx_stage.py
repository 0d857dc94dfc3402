"""Run exported stages in PhysX, without Isaac Sim.

``python benchmarks/simulation/physx_stage.py out/tabletop.usda ...``.

Needs an environment of its own, as PhysX brings an OpenUSD that usd-core may not meet in one process:
``pip install numpy ovphysx==0.7.0.74035321 physx-usd-schemas newton-usd-schemas`` (licence: NVIDIA's). For each stage
it holds the home for 2 s, then moves the first joint and all joints that others mimic, and prints the distance of
all joints from their targets. A suction cup stays in its place: only Isaac Sim opens its joint.
"""

# ruff: noqa: ANN401 PhysX has no types that could be named here

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import numpy as np

STEP_S, HOLD_STEPS, MOVE_STEPS = 0.005, 400, 400
MOVE = 0.1
"""Move of the first joint [rad or m], and share of their range by which joints that lead others move."""


class Cell:
    """One stage in PhysX."""

    def __init__(self, physx: Any, path: Path, number: int) -> None:
        import ovstage

        self._physx, text = physx, path.read_text(encoding="utf-8")
        found = re.search(r'def Xform "([^"]+)" \([^)]*PhysicsArticulationRootAPI', text)
        if found is None:
            raise SystemExit(f"{path}: holds no articulation; export it as .usda")
        self._robot = f"/World/{found[1]}"
        joint = r'Joint "([^"]+)" \((?:(?!Joint ").)*?'
        self.mimics = dict(re.findall(joint + r"referenceJoint = <[^>]*/([^/>]+)>", text, re.S))
        gearing = re.findall(joint + r":gearing = (\S+)", text, re.S)
        self.gearing = {name: float(value) for name, value in gearing}
        self._stage = ovstage.Stage(f"cell_{number}")
        domains = ovstage.PopulationDomain.ALL
        ovstage.population.open_usd(self._stage, str(path.resolve()), ordinal=1, domains=domains)
        self._stage.advance_write_floor(ordinal=1).wait()
        physx.wait_task(physx.attach_ovstage(self._stage, read_ordinal=1))
        physx.wait_all()

    def read(self, what: str, pattern: str = "") -> np.ndarray:
        """Return a tensor of the robot, or of the bodies of a pattern.

        Args:
            what: Name of the tensor's type in PhysX.
            pattern: Path of the bodies; empty for the robot.
        """
        binding = self._bind(what, pattern)
        values = np.zeros(binding.shape, dtype=np.float32)
        if values.size:
            binding.read(values)
        return values

    def names(self) -> list[str]:
        """Return the joints in PhysX's order."""
        return list(self._bind("ARTICULATION_DOF_POSITION", "").dof_names)

    def aim(self, targets: np.ndarray) -> None:
        """Set the drives' targets.

        Args:
            targets: Positions, (1, n), rad or m.
        """
        self._bind("ARTICULATION_DOF_POSITION_TARGET", "").write(targets)

    def run(self, steps: int) -> None:
        """Advance time.

        Args:
            steps: Number of physics steps.
        """
        for _ in range(steps):
            self._physx.step_sync(STEP_S)

    def close(self) -> None:
        """Release the stage."""
        self._physx.wait_task(self._physx.detach_ovstage())
        self._stage.destroy()

    def _bind(self, what: str, pattern: str) -> Any:
        from ovphysx.types import TensorType

        kind = getattr(TensorType, what)
        return self._physx.create_tensor_binding(pattern=pattern or self._robot, tensor_type=kind)


def measure(cell: Cell) -> tuple[float, float, float, float]:
    """Return drift at home, objects' longest way, error of the moved joints, error of those that mimic [rad or m].

    Args:
        cell: The stage.
    """
    names = cell.names()
    home = cell.read("ARTICULATION_DOF_POSITION")[0]
    objects = cell.read("RIGID_BODY_POSE", "/World/Objects/*")[:, :3]
    cell.run(HOLD_STEPS)
    drift = float(np.abs(cell.read("ARTICULATION_DOF_POSITION")[0] - home).max())
    way = np.linalg.norm(cell.read("RIGID_BODY_POSE", "/World/Objects/*")[:, :3] - objects, axis=1)
    targets = cell.read("ARTICULATION_DOF_POSITION_TARGET")
    limits = cell.read("ARTICULATION_DOF_LIMIT")[0]
    moved = {names.index(leader) for leader in cell.mimics.values()}
    for i in moved:
        towards = 1.0 if home[i] < limits[i].mean() else -1.0
        targets[0, i] = home[i] + towards * 2.0 * MOVE * np.ptp(limits[i])
    targets[0, 0] = home[0] + (MOVE if home[0] + MOVE < limits[0, 1] else -MOVE)
    cell.aim(targets)
    cell.run(MOVE_STEPS)
    q = cell.read("ARTICULATION_DOF_POSITION")[0]
    reached = max(abs(float(q[i] - targets[0, i])) for i in {0, *moved})
    pairs = [
        (names.index(one), names.index(leader), cell.gearing[one]) for one, leader in cell.mimics.items()
    ]
    followed = max((abs(float(q[one] + gear * q[leader])) for one, leader, gear in pairs), default=0.0)
    return drift, float(way.max(initial=0.0)), reached, followed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stages", type=Path, nargs="+")
    options = parser.parse_args()
    import ovphysx
    import ovstage
    from ovphysx.samples.python_samples.schema_support import physx_schema_paths

    ovphysx.PhysX.set_cpu_mode(True)
    physx = ovphysx.PhysX()
    schemas = [*map(str, physx_schema_paths()), str(ovphysx.newton_schema_root())]
    ovstage.population.register_usd_schemas(schemas)
    rows = [
        "| stage | joints | drift in 2 s | objects' way [m] | error of joints moved | of those that mimic |"
    ]
    rows.append("|---|---|---|---|---|---|")
    for number, path in enumerate(options.stages):
        cell = Cell(physx, path, number)
        values = " | ".join(f"{value:.4f}" for value in measure(cell))
        rows.append(f"| {path.stem} | {len(cell.names())} | {values} |")
        cell.close()
    print("\n".join(rows))


if __name__ == "__main__":
    main()
