"""An episode of a policy turned inside out: who has the actions advances it, one step at a time."""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_data.policies.episode import PolicyEpisode, PolicySetup
from handiwork_policy.actions.spec import ActionDecoder, ActionSpace, GripperSpace
from handiwork_policy.protocol.errors import PolicyError
from handiwork_policy.protocol.policy import Observation
from handiwork_policy.verdicts.result import PolicyResult

WAIT_S = 600.0
"""The longest wait for a step of the simulation, s of steady time: pictures without a GPU take long."""


class EndedFromOutside(PolicyError):
    """The harness has ended the episode before its own end."""


class _Hand:
    """The policy of an episode: it hands observations out, and waits for actions."""

    def __init__(self) -> None:
        self.observations: queue.Queue[Observation | None] = queue.Queue()
        self.actions: queue.Queue[Array | None] = queue.Queue()

    def metadata(self) -> Mapping[str, Any]:
        """See ``Policy``."""
        return {}

    def infer(self, observation: Observation) -> Mapping[str, Any]:
        """See ``Policy``.

        Args:
            observation: The observation.
        """
        self.observations.put(observation)
        action = self.actions.get()
        if action is None:
            raise EndedFromOutside("the harness has ended the episode")
        return {"actions": action}

    def reset(self) -> None:
        """See ``Policy``."""


class SteppedEpisode:
    """One episode whose actions come from outside, with the same guard and the same verdict as any other.

    The loop of the policy runs in a thread of its own, which also makes and uses the renderer.

    Args:
        setup: What stays the same; a chunk has one action here.
        number: Number of the episode, its seed.

    Raises:
        ConfigError: The settings do not fit the robot or the scene.
        PolicyError: Something does not fit, such as an object of the state that is missing.
    """

    def __init__(self, setup: PolicySetup, number: int) -> None:
        one = replace(setup.settings, chunk=1, execute_steps=1, blend_steps=0, asynchronous=False)
        self._setup, self._number = replace(setup, settings=one, delay_steps=0), number
        self._hand = _Hand()
        self._made: PolicyEpisode | None = None
        self._result: PolicyResult | None = None
        self._fault: BaseException | None = None
        self._begun_s, self._now_s = 0.0, 0.0
        self._thread = threading.Thread(target=self._work, name="stepped episode", daemon=True)
        self._thread.start()
        self._observation = self._next()

    @property
    def observation(self) -> Observation | None:
        """The newest observation; None once the episode has ended."""
        return self._observation

    @property
    def time_s(self) -> float:
        """Time of the world since the beginning, s."""
        return self._now_s - self._begun_s

    @property
    def instruction(self) -> str:
        """The sentence of the episode."""
        assert self._made is not None
        return self._made.settings.instruction

    def step(self, action: Array) -> Observation | None:
        """Do an action; return the next observation, or None at the end.

        Args:
            action: The numbers of one action, (d,) or (1, d).

        Raises:
            PolicyError: The first action does not fit; nothing has moved.
        """
        if self._observation is None:
            return None
        self._hand.actions.put(np.asarray(action, dtype=np.float64).reshape(1, -1))
        self._observation = self._next()
        return self._observation

    def result(self) -> PolicyResult:
        """End the episode where it is still under way, and return its result with the verdict of now.

        Raises:
            PolicyError: It ended before anything moved.
        """
        while self._observation is not None:
            self._hand.actions.put(None)
            self._observation = self._next()
        self._thread.join()
        assert self._result is not None
        return self._result

    def hold_action(self) -> Array:
        """Return the action that keeps arm and gripper where they are: (d,), in the space of the settings."""
        assert self._made is not None
        settings, arm = self._setup.settings, self._made.port.arm
        world = self._made.cell.snapshot()
        q = np.array([world.joints.position[name] for name in arm.joint_names])
        width = math.nan
        if arm.gripper is not None and settings.gripper is not GripperSpace.NONE:
            width = arm.gripper.width(world.joints.position[arm.gripper.joint])
        return hold_action(self._setup, q, width)

    def _next(self) -> Observation | None:
        observation = self._hand.observations.get(timeout=WAIT_S)
        if self._fault is not None:
            raise self._fault
        return observation

    def _work(self) -> None:
        try:
            made = PolicyEpisode(self._setup, self._number, self._hand)
            self._made, self._begun_s = made, made.cell.now_s()
            self._now_s = self._begun_s
            self._result = made.run(on_tick=self._note_time)
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._fault = error
        finally:
            self._hand.observations.put(None)

    def _note_time(self) -> None:
        assert self._made is not None
        self._now_s = self._made.cell.now_s()


def action_size(setup: PolicySetup) -> int:
    """Return the number of numbers in an action.

    Args:
        setup: The setup.
    """
    arm, settings = setup.robot.arm(setup.arm), setup.settings
    return ActionDecoder(setup.robot, arm, settings.action_space, settings.gripper).size


def hold_action(setup: PolicySetup, q: Array, width_m: float) -> Array:
    """Return the action that keeps an arm where it is.

    Args:
        setup: The setup, for the space of the actions.
        q: Joint positions, (dof,), rad or m.
        width_m: Opening of the gripper, m.

    Raises:
        ValueError: The space has poses, which a pose of the moment alone does not give.
    """
    settings, gripper = setup.settings, setup.robot.arm(setup.arm).gripper
    if settings.action_space is ActionSpace.EE_POSE:
        raise ValueError("action_space ee_pose has no action that holds before the first one; use ee_delta")
    body = q if settings.action_space is ActionSpace.JOINT_POSITION else np.zeros(action_size(setup))
    if settings.action_space is not ActionSpace.JOINT_POSITION:
        body = body[: len(body) - (settings.gripper is not GripperSpace.NONE)]
    if settings.gripper is GripperSpace.NONE or gripper is None:
        return body
    share = (width_m - gripper.min_width_m) / (gripper.max_width_m - gripper.min_width_m)
    last = {
        GripperSpace.WIDTH: width_m,
        GripperSpace.OPEN_SHARE: share,
        GripperSpace.CLOSED_SHARE: 1.0 - share,
    }[settings.gripper]
    return np.append(body, last)
