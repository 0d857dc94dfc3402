"""A running cell in Isaac Sim: the operations for services, and the states that the graph does not publish."""

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
    """A running cell. One thread uses it, between frames.

    Args:
        app: Isaac Sim.
        stage: The open stage.
        index: Its prims by our names.
    """

    def __init__(self, app: IsaacApp, stage: Usd.Stage, index: StageIndex) -> None:
        self.app, self._stage, self.index = app, stage, index
        self._on = dict.fromkeys(index.grippers, False)
        self._step_s = 1.0 / _steps_per_s(stage)
        self._paused = False

    def reset(self) -> None:
        """Reset robot, objects and belts to the stage, open the cups, and run."""
        for name in self.index.grippers:
            self.switch(name, close=False)
        self.app.stop()
        self.app.update()
        for name, pose in self.index.places.items():
            put(self._stage, self.index.objects[name], pose)
        for name, velocity in self.index.belts.items():
            self.run_belt(name, velocity)
        self._paused = False
        self.app.play()
        self.app.update()

    def pause(self, *, paused: bool) -> None:
        """Pause the physics, or continue it.

        Args:
            paused: Whether to pause it.
        """
        self._paused = paused
        if paused:
            self.app.pause()
        else:
            self.app.play()

    def step(self) -> str:
        """Run one frame.

        Returns:
            The fault; empty for none.
        """
        if not self._paused:
            return "the physics runs; pause it first"
        self.app.step()
        return ""

    def place(self, name: str, pose: Pose) -> str:
        """Put an object at a pose, at rest.

        Args:
            name: Name of the object.
            pose: world_T_object.

        Returns:
            The fault; empty for none.
        """
        if name not in self.index.objects:
            return f"object {name!r} is not one of {sorted(self.index.objects)}"
        put(self._stage, self.index.objects[name], pose)
        return ""

    def run_belt(self, name: str, velocity: Velocity) -> str:
        """Set the velocity of a belt.

        Args:
            name: Name of the object.
            velocity: Velocity in the belt's frame, m/s.

        Returns:
            The fault; empty for none.
        """
        if name not in self.index.belts:
            return f"belt {name!r} is not one of {sorted(self.index.belts)}"
        run_belt(self._stage, self.index.objects[name], velocity)
        return ""

    def switch(self, gripper: str, *, close: bool) -> None:
        """Close or open a surface gripper.

        Args:
            gripper: Name of the gripper.
            close: Whether to close it.
        """
        self._on[gripper] = close
        self.app.switch(self.index.grippers[gripper], close=close)

    def cups(self) -> dict[str, CupState]:
        """Return the states of all surface grippers by name."""
        states = {}
        for name, path in self.index.grippers.items():
            status, held = self.app.gripper(path)
            bodies = tuple(filter(None, map(self.index.body_at, held)))
            states[name] = CupState(self._on[name], status == "Closed", bodies)
        return states

    def contacts(self) -> tuple[Contact, ...]:
        """Return the forces between our bodies in the last physics step."""
        headers, points = self.app.contact_report()
        return contacts_of(
            headers, points, lambda number: self.index.body_at(self.app.path_of(number)), self._step_s
        )


def _steps_per_s(stage: Usd.Stage) -> float:
    scene: UsdPhysics.Scene
    from pxr import UsdPhysics

    scene = next(prim for prim in stage.Traverse() if prim.IsA(UsdPhysics.Scene))
    given = scene.GetAttribute(STEPS_PER_S)
    return float(given.Get()) if given else 60.0
