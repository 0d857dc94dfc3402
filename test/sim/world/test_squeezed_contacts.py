"""Contacts of MuJoCo whose forces point against each other, as those of a cube that one body clamps."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from conditionals_node.predicates import ObjectInContact, ObjectOnTop
from handiwork_core.contracts.predicate import Truth
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import ObjectState, World
from sim_bridge.mujoco.contacts import body_contacts
from support.records.pictured import CUBE, box

CLAMP = """
<mujoco>
  <option cone="elliptic"/>
  <worldbody>
    <body name="clamp">
      <geom type="box" size="0.01 0.05 0.05" pos="-0.0295 0 0" friction="1 0 0"/>
      <geom type="box" size="0.01 0.05 0.05" pos="0.0295 0 0" friction="1 0 0"/>
    </body>
    <body name="cube"><freejoint/><geom type="box" size="0.02 0.02 0.02" mass="0.1" friction="1 0 0"/></body>
  </worldbody>
</mujoco>
"""
STANDING = """
<mujoco>
  <option cone="elliptic"/>
  <worldbody>
    <body name="table"><geom type="box" size="0.5 0.5 0.025" pos="0 0 -0.045"/></body>
    <body name="cube"><freejoint/><geom type="box" size="0.02 0.02 0.02" mass="0.1"/></body>
  </worldbody>
</mujoco>
"""
ZERO = frozen((0.0, 0.0, 0.0))


def contacts_after(text: str, steps: int) -> World:
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    names = [model.body(i).name for i in range(model.nbody)]
    mujoco.mj_step(model, data, steps)
    objects = {"cube": CUBE, names[1]: box(names[1], 1.0, 1.0, 0.05)}
    states = {name: ObjectState(Pose.identity(), ZERO, ZERO, 0.0) for name in objects}
    return World(0.0, objects=objects, states=states, contacts=body_contacts(model, data, names))


def test_a_squeeze_by_one_body_does_not_cancel() -> None:
    world = contacts_after(CLAMP, 5)
    assert [(item.a, item.b) for item in world.contacts or ()] == [("clamp", "cube")] * 2
    first, second = (np.array(item.force_on_a_n) for item in world.contacts or ())
    assert np.linalg.norm(first) > 5.0
    assert first[0] == pytest.approx(-second[0], rel=0.05)
    found = ObjectInContact("cube", "clamp", min_force=5.0).evaluate(world)
    assert found.truth is Truth.TRUE
    assert found.margin + 5.0 > 0.99 * (np.linalg.norm(first) + np.linalg.norm(second))


def test_a_body_that_stands_on_another_has_one_contact_with_it() -> None:
    world = contacts_after(STANDING, 500)
    (contact,) = world.contacts or ()
    assert (contact.a, contact.b) == ("table", "cube")
    assert contact.force_on_a_n[2] == pytest.approx(-0.981, rel=0.02)
    assert ObjectOnTop("cube", "table").evaluate(world).truth is Truth.TRUE
