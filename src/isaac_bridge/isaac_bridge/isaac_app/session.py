"""A running cell in Isaac Sim: what services ask of it, and what it tells besides the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handiwork_core.isaac_wire import CupState
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import Contact

from .app import IsaacApp
from .contact_report import contacts_of
from .stage_index import StageIndex, Velocity, put, run_belt

if TYPE_CHECKING:
    from pxr import Usd, UsdPhysics

STEPS_PER_S = "physxScene:timeStepsPerSecond"


class Session:
    """One thread uses it, between frames."""

    def __init__(self, door: IsaacApp, stage: Usd.Stage, index: StageIndex) -> None:
        self.door, self._stage, self.index = door, stage, index
        self._on = dict.fromkeys(index.grippers, False)
        self._step_s = 1.0 / _steps_per_s(stage)
        self._paused = False

    def reset(self) -> None:
        """Robot at home, objects and belts as the stage had them, cups open; it runs on afterwards."""
        for name in self.index.grippers:
            self.switch(name, close=False)
        self.door.stop()
        self.door.update()
        for name, pose in self.index.places.items():
            put(self._stage, self.index.objects[name], pose)
        for name, velocity in self.index.belts.items():
            self.run_belt(name, velocity)
        self._paused = False
        self.door.play()
        self.door.update()

    def pause(self, *, paused: bool) -> None:
        """Hold the physics, or let it run on."""
        self._paused = paused
        if paused:
            self.door.pause()
        else:
            self.door.play()

    def step(self) -> str:
        """One frame; what is wrong, empty for nothing."""
        if not self._paused:
            return "the physics runs; pause it first"
        self.door.step()
        return ""

    def place(self, name: str, pose: Pose) -> str:
        """Put an object somewhere, at rest; what is wrong, empty for nothing."""
        if name not in self.index.objects:
            return f"object {name!r} is not one of {sorted(self.index.objects)}"
        put(self._stage, self.index.objects[name], pose)
        return ""

    def run_belt(self, name: str, velocity: Velocity) -> str:
        """Let a belt run so, in its own frame [m/s]; what is wrong, empty for nothing."""
        if name not in self.index.belts:
            return f"belt {name!r} is not one of {sorted(self.index.belts)}"
        run_belt(self._stage, self.index.objects[name], velocity)
        return ""

    def switch(self, gripper: str, *, close: bool) -> None:
        """Close or open a surface gripper by its name."""
        self._on[gripper] = close
        self.door.switch(self.index.grippers[gripper], close=close)

    def cups(self) -> dict[str, CupState]:
        """All surface grippers by name."""
        states = {}
        for name, path in self.index.grippers.items():
            status, held = self.door.gripper(path)
            bodies = tuple(filter(None, map(self.index.body_at, held)))
            states[name] = CupState(self._on[name], status == "Closed", bodies)
        return states

    def contacts(self) -> tuple[Contact, ...]:
        """Forces between our bodies in the last physics step."""
        headers, points = self.door.contact_report()
        return contacts_of(
            headers, points, lambda number: self.index.body_at(self.door.path_of(number)), self._step_s
        )


def _steps_per_s(stage: Usd.Stage) -> float:
    scene: UsdPhysics.Scene
    from pxr import UsdPhysics

    scene = next(prim for prim in stage.Traverse() if prim.IsA(UsdPhysics.Scene))
    given = scene.GetAttribute(STEPS_PER_S)
    return float(given.Get()) if given else 60.0
