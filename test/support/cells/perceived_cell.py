"""A simulated cell whose skills see the objects by detections alone: the tracker of perception_bridge, without ROS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from handiwork_core.model.geometry import frozen
from handiwork_core.model.world import ObjectState, World
from handiwork_core.robot.robot import Robot
from perception_bridge.robot.held_objects import HeldObjects
from perception_bridge.tracking.detection import Detection, DetectionFrame
from perception_bridge.tracking.estimate import Measurement
from perception_bridge.tracking.settings import TrackingSettings
from perception_bridge.tracking.tracker import Tracker
from sim_bridge.detector.faulty_detector import DetectorFaults, FaultyDetector
from sim_bridge.mujoco.simulation import CONTROL_S
from support.cells.simulated_cell import SimulatedCell

LOOK_STEPS = 10
"""Control periods between two looks of the tracker at the joints: 20 ms, as in the node."""
STILL = frozen((0.0, 0.0, 0.0))


class PerceivedCell(SimulatedCell):
    """The ports of a skill whose world is what a faulty detector and the fingers say; there are no contacts."""

    def __init__(
        self,
        robot: Robot,
        engine: Any,
        scene_name: str,
        seed: int,
        faults: DetectorFaults,
        settings: TrackingSettings | None = None,
    ) -> None:
        super().__init__(robot, engine, scene_name, seed)
        bodies = [item.body for item in self.scene.objects]
        movable = {body.name: [body] for body in bodies if not body.is_static}
        self._fixed = {body.name for body in bodies if body.is_static}
        self.tracker = Tracker(movable, settings or TrackingSettings())
        self.remarks: list[str] = []
        self._held, self._faults = HeldObjects(robot, self.tracker), faults
        self._detector = FaultyDetector(faults, seed)
        self._advance = self.sim.advance
        self.sim.advance = self._advance_and_look  # type: ignore[method-assign]

    def _advance_and_look(self, steps: int) -> None:
        while steps > 0:
            taken = min(steps, LOOK_STEPS)
            self._advance(taken)
            steps -= taken
            self._look()

    def _look(self) -> None:
        truth = super().snapshot()
        assert truth.joints is not None
        self.remarks += self._held.take(truth.joints, self.scene.world_T_base)
        poses = {name: truth.states[name].world_T_object for name in self.tracker.slots}
        for look in self._detector.take(truth.stamp_s, poses):
            seen = tuple(
                Detection(
                    label,
                    Measurement(pose, self._faults.position_std, self._faults.rotation_std, look.stamp_s),
                )
                for label, pose in look.found
            )
            self.remarks += self.tracker.take(DetectionFrame("detections", look.stamp_s, seen))

    def wait_seen(self, longest_s: float = 10.0) -> None:
        """Let the detector look until every movable object is known, and 1 s more."""
        end_s = self.now_s() + longest_s
        while len(self.tracker.states(self.now_s())) < len(self.tracker.slots) and self.now_s() < end_s:
            self.sim.advance(LOOK_STEPS)
        self.sim.advance(int(1.0 / CONTROL_S))

    def truth(self) -> World:
        """Return the world as it is, for the judge."""
        return super().snapshot()

    def snapshot(self) -> World:
        """Return the world as it is seen."""
        truth = super().snapshot()
        now_s = truth.stamp_s
        fixed = {
            name: ObjectState(truth.states[name].world_T_object, STILL, STILL, now_s) for name in self._fixed
        }
        known = {item.name for item in self.tracker.objects()} | self._fixed
        objects = {name: body for name, body in self.objects.items() if name in known}
        states = fixed | self.tracker.states(now_s)
        return replace(truth, objects=objects, states=states, contacts=None, contacts_stamp_s=0.0)
