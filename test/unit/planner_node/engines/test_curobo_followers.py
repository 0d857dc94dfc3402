"""cuRobo gets no robot whose arms have joints that follow theirs; the CPU engine plans it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import JointGoals, PlanRequest
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_planning.cpu_engine import CpuEngine
from planner_node.engines.curobo_engine import CuroboEngine
from planner_node.pipeline.engine_selection import open_engine
from robot_description.formats.curobo_config import CuroboUse, curobo_config
from support.planning.led_arms import led_arm

LED = led_arm(np.random.default_rng(3), joints=4, followers=2, rods=1)
ROBOT = replace(LED, spheres=LED.spheres[:1])
"""Only its base has a sphere, so that it cannot touch itself."""
PARTS = "follow joints of arm 'arm' by <mimic>.*not verified; plan with engine:=cpu"


class Curobo(CuroboEngine):
    """The engine on a machine that has all that cuRobo needs."""

    @classmethod
    def why_not(cls) -> str:
        return ""


def test_the_engine_does_not_load_and_says_which_engine_to_take() -> None:
    with pytest.raises(ConfigError, match=PARTS):
        open_engine(Curobo, None, (ROBOT, Pose.identity()), lambda _s, _t: None, print, print)


def test_the_cpu_engine_plans_instead_where_it_may() -> None:
    said: list[str] = []
    engine = open_engine(
        Curobo, CpuEngine, (ROBOT, Pose.identity()), lambda _s, _t: None, said.append, said.append
    )
    home = ROBOT.arm("").home_q
    planned = engine.plan(PlanRequest("", home, JointGoals((home + 0.02)[None])), lambda: False)
    assert planned.code is Code.OK
    assert len(said) == 1 and "'cpu' plans instead" in said[0] and "engine:=cpu" in said[0]


def test_no_configuration_is_written() -> None:
    with pytest.raises(ValueError, match=PARTS):
        curobo_config(ROBOT, Path("/r/led.urdf"), CuroboUse(("arm",)))
