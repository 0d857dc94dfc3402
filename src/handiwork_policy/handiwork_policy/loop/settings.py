"""Settings of a run of a policy, the same in simulation, over ROS and in evaluations."""

from __future__ import annotations

from dataclasses import dataclass, field

from handiwork_policy.actions.spec import ActionSpace, GripperSpace
from handiwork_policy.guard.settings import GuardSettings

from .state_layout import STATE_WORDS, is_state_word

LARGEST_PICTURE = 2048


@dataclass(frozen=True, slots=True)
class CameraInput:
    """A picture of each observation.

    Attributes:
        key: Key of the picture in the observation.
        camera: Name of the camera; empty: as the key.
        topic: Topic of its images on a robot; empty: ``cameras/<camera>/color/image_raw``. Not read in lock-step.
        width: Width of the picture that the policy gets, pixels.
        height: Its height, pixels.
    """

    key: str
    camera: str = ""
    width: int = 224
    height: int = 224
    topic: str = ""

    def __post_init__(self) -> None:
        if not self.key.strip():
            raise ValueError("key is empty; write the picture's key in the observation")
        for name in ("width", "height"):
            if not 1 <= getattr(self, name) <= LARGEST_PICTURE:
                raise ValueError(f"{name} is {getattr(self, name)}; write 1 to {LARGEST_PICTURE} pixels")

    @property
    def image_topic(self) -> str:
        """Topic of its images."""
        return self.topic or f"cameras/{self.camera or self.key}/color/image_raw"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySettings:
    """How a policy is run.

    Attributes:
        instruction: The sentence that the policy gets.
        cameras: Its pictures.
        state: Parts of its state, in order; see ``state_layout``.
        state_key: Key of the state in the observation.
        state_keys: Keys of the parts of the state, one for each; none: all parts together at ``state_key``.
        prompt_key: Key of the instruction.
        action_space: The space of its actions.
        gripper: Meaning of the last number of an action.
        action_scale: Factor on deltas.
        rate_hz: Actions a second.
        chunk: Number of actions in a chunk; 0: any.
        execute_steps: Number of actions after which the next chunk is asked for; 0: all.
        asynchronous: True: the rest of a chunk is executed until the next one is there. False: the arm waits for it.
        blend_steps: Number of steps in which the arm passes from a chunk to the next.
        until: Condition that ends the run with success, once it is confirmed.
        subtasks: Conditions of the way there; the progress is the share of them that was TRUE at some time.
        time_limit: Longest time of the run, s.
        server_timeout: Longest wait for an answer, s.
        guard: Settings of the guard.
    """

    instruction: str = ""
    cameras: tuple[CameraInput, ...] = ()
    state: tuple[str, ...] = ("joint_position", "gripper_width")
    state_key: str = "observation/state"
    state_keys: tuple[str, ...] = ()
    prompt_key: str = "prompt"
    action_space: ActionSpace = ActionSpace.JOINT_POSITION
    gripper: GripperSpace = GripperSpace.WIDTH
    action_scale: float = 1.0
    rate_hz: float = 25.0
    chunk: int = 0
    execute_steps: int = 8
    asynchronous: bool = True
    blend_steps: int = 2
    until: str = ""
    subtasks: tuple[str, ...] = ()
    time_limit: float = 60.0
    server_timeout: float = 5.0
    guard: GuardSettings = field(default_factory=GuardSettings)

    def __post_init__(self) -> None:
        if not self.until.strip():
            raise ValueError(
                "until is empty; write the condition that is to end the run, as in 'grasped(object=cube)'"
            )
        if not 1.0 <= self.rate_hz <= 100.0:
            raise ValueError(f"rate_hz is {self.rate_hz:g}; write 1 to 100")
        if not 0.0 < self.time_limit <= 3600.0:
            raise ValueError(f"time_limit is {self.time_limit:g} s; write a time above 0, at most 3600")
        if not 0.01 <= self.server_timeout <= 600.0:
            raise ValueError(f"server_timeout is {self.server_timeout:g} s; write 0.01 to 600")
        for key in ("chunk", "execute_steps", "blend_steps"):
            if not 0 <= getattr(self, key) <= 1000:
                raise ValueError(f"{key} is {getattr(self, key)}; write 0 to 1000")
        if self.chunk and self.execute_steps > self.chunk:
            raise ValueError(f"execute_steps is {self.execute_steps}, more than chunk, which is {self.chunk}")
        wrong = [one for one in self.state if not is_state_word(one)]
        if wrong:
            raise ValueError(f"state has {wrong[0]!r}; write some of {', '.join(STATE_WORDS)}")
        if self.state_keys and len(self.state_keys) != len(self.state):
            text = f"state_keys has {len(self.state_keys)} keys, and state {len(self.state)} parts"
            raise ValueError(f"{text}; write a key for each part, or none")
        states = self.state_keys or (self.state_key,)
        keys = [*states, self.prompt_key, *(camera.key for camera in self.cameras)]
        double = next((key for key in keys if keys.count(key) > 1), "")
        if double:
            raise ValueError(f"key {double!r} is used twice in the observation; give each part its own")
