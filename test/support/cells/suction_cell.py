"""The ports of a skill on a simulated arm with a suction cup."""

from __future__ import annotations

from typing import Any

from handiwork_core.model.outcome import OK, Outcome
from handiwork_core.model.suction import SEAL_S, no_seal
from handiwork_core.model.world import JointState, World
from support.cells.simulated_cell import POLL_STEPS, SimulatedCell


class SuctionCell(SimulatedCell):
    """A simulated cell whose gripper is a suction cup: closing turns it on, and its state is in every snapshot."""

    @property
    def cup(self) -> Any:
        assert self.spec.gripper is not None
        return self.sim.world.cups[self.spec.gripper.name]

    def snapshot(self) -> World:
        world, now = self.sim.world, self.now_s()
        indices, measured = world.indices(self.spec.joint_names), world.joints()
        joints = JointState(
            now,
            dict(zip(self.spec.joint_names, measured.position[indices].tolist(), strict=True)),
            dict(zip(self.spec.joint_names, measured.velocity[indices].tolist(), strict=True)),
        )
        states = {name: cup.state(now) for name, cup in world.cups.items()}
        return World(
            now, 1, self.objects, world.object_states(), world.contacts(), now, joints, suction=states
        )

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: Any) -> Outcome:
        on = width_m == 0.0
        self.cup.switch(on=on)
        until = self.now_s() + SEAL_S
        while on and not self.cup.object:
            if self.now_s() > until:
                failed = no_seal(self.cup.state(self.now_s()))
                self.cup.switch(on=False)
                return failed
            self.sim.advance(POLL_STEPS)
        return OK
