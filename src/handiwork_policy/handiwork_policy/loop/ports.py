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

    def send(self, q: Array, v: Array) -> str:
        """Send the reference of the end of this step; the arm follows half a step behind, see ``smoothed``.

        Args:
            q: Positions, (dof,), rad or m.
            v: Velocities, (dof,), rad/s or m/s.

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

    def wait_step(self) -> None:
        """Return at the beginning of the next step."""
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
