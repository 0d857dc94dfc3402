"""What the loop of a policy uses of the world: a simulation in lock-step, or a robot over ROS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from handiwork_core.contracts.planning import Attachment
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import World
from handiwork_policy.protocol.policy import Observation
from handiwork_policy.protocol.worker import Answer
from handiwork_policy.verdicts.judged import Judged

Pictures = Mapping[str, NDArray[np.uint8]]


class PolicyPort(Protocol):
    """An arm with its world, step by step."""

    def now_s(self) -> float:
        """Return the time of the robot's world, s."""
        ...

    def snapshot(self) -> World:
        """Return the newest world."""
        ...

    def world_T_base(self) -> Pose:
        """Return the pose of the arm's base."""
        ...

    def held(self) -> tuple[Attachment, ...]:
        """Return what the arm holds, by measurement."""
        ...

    def pictures(self) -> Pictures:
        """Return the newest pictures by key, (h, w, 3) each.

        Raises:
            PolicyError: A camera has sent none, or none for long.
        """
        ...

    def lag_s(self, stamp_s: float) -> float:
        """Return how far measured positions are behind the reference of the beginning of this step, s.

        Args:
            stamp_s: Time at which they were measured, s.
        """
        ...

    def is_late(self) -> bool:
        """Return True when a command that is sent now would be followed too late: the arm brakes in this step."""
        ...

    def send(self, q: Array, v: Array) -> str:
        """Send the reference of the end of this step, and the brake behind it; see ``smoothed`` for the curve.

        An arm that gets nothing further brakes by these rows, which the guard has checked, and never goes beyond them.

        Args:
            q: Positions, (n, dof): the end of this step, then each step of the brake, rad or m.
            v: Velocities, (n, dof), rad/s or m/s; the last row is zero.

        Returns:
            Why the controller refused it; empty for done.
        """
        ...

    def grip(self, width_m: float) -> None:
        """Begin to move the fingers; does not wait.

        Args:
            width_m: Opening, m.
        """
        ...

    def wait_step(self) -> int:
        """Return at the beginning of the next step that is in time.

        Returns:
            Number of steps that were missed before it, in which the arm has braked by the rows that were sent.
        """
        ...

    def why_stop(self) -> str:
        """Return why the run is to end from outside; empty while it may go on."""
        ...


class Inference(Protocol):
    """Asks a policy; see ``InferenceWorker``."""

    @property
    def is_busy(self) -> bool:
        """True from a request until its answer is taken."""
        ...

    def waiting_s(self) -> float:
        """Return for how long the present request has waited, s."""
        ...

    def ask(self, step: int, observation: Observation) -> None:
        """Send an observation.

        Args:
            step: Step of the loop.
            observation: The observation.
        """
        ...

    def take(self, timeout_s: float = 0.0) -> Answer | None:
        """Return the answer once it is there, else None.

        Args:
            timeout_s: Longest wait, s of steady time.
        """
        ...


class Judge(Protocol):
    """The monitor of a run."""

    def look(self) -> tuple[Judged, ...]:
        """Return the state of ``until``, then of each subtask."""
        ...
