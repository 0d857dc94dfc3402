"""The state of a compiled model by names, so that another model of the same things can continue from it.

The simulator's model and data are arguments, because ``mujoco/world.py`` alone imports it.
"""

# ruff: noqa: ANN401 the simulator's values are arguments

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from handiwork_core.model.geometry import Array


@dataclass(frozen=True, slots=True)
class KeptState:
    """The state of a model by names.

    Attributes:
        joints: Position and velocity of each joint.
        actuators: Reference and force range of each actuator.
        bodies: Position and quaternion of each fixed body.
    """

    joints: dict[str, tuple[Array, Array]]
    actuators: dict[str, tuple[Array, Array]]
    bodies: dict[str, tuple[Array, Array]]

    def renamed(self, before: str, after: str) -> KeptState:
        """Return the state for a model whose robot has another name.

        Args:
            before: Name of the robot in this state.
            after: Name of the robot in the other model.
        """

        def name(old: str) -> str:
            return f"{after}/{old.removeprefix(f'{before}/')}" if old.startswith(f"{before}/") else old

        parts = (self.joints, self.actuators, self.bodies)
        return KeptState(*({name(old): value for old, value in part.items()} for part in parts))


def kept_state(model: Any, data: Any) -> KeptState:
    """Copy the state of a model.

    Args:
        model: The compiled model.
        data: Its state.

    Returns:
        The copy that ``put_state`` takes.
    """
    joints = [data.joint(model.joint(i).name) for i in range(model.njnt)]
    actuators = [model.actuator(i) for i in range(model.nu)]
    fixed = [model.body(i) for i in range(1, model.nbody) if model.body(i).weldid == 0]
    return KeptState(
        {joint.name: (joint.qpos.copy(), joint.qvel.copy()) for joint in joints},
        {one.name: (data.actuator(one.name).ctrl.copy(), one.forcerange.copy()) for one in actuators},
        {body.name: (body.pos.copy(), body.quat.copy()) for body in fixed if body.parentid == 0},
    )


def put_state(model: Any, data: Any, kept: KeptState) -> None:
    """Set the state of everything that has a name in ``kept``; the rest stays as it is.

    Args:
        model: The compiled model.
        data: Its state.
        kept: The state to set.
    """
    for i in range(model.njnt):
        joint = data.joint(model.joint(i).name)
        if joint.name in kept.joints:
            joint.qpos[:], joint.qvel[:] = kept.joints[joint.name]
    for i in range(model.nu):
        one = model.actuator(i)
        if one.name in kept.actuators:
            data.actuator(one.name).ctrl[:], one.forcerange[:] = kept.actuators[one.name]
    for name, (pos, quat) in kept.bodies.items():
        if any(model.body(i).name == name for i in range(model.nbody)):
            model.body(name).pos[:], model.body(name).quat[:] = pos, quat
