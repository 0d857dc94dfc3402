"""Plans are kept for a stated number and time, and refused in words afterwards."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass, replace

import pytest

from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World
from skill_server.preview.plan_store import KEPT_FOR_S, PLANS_KEPT, NoSuchPlan, PlanStore
from skill_server.preview.skill_plan import SkillPlan, WorldBefore
from skill_server.skills.motion.home import Home, HomeParams

PLAN = SkillPlan(Home(), HomeParams(), "arm", 0, (), (), WorldBefore(World(0.0), Pose.identity()))


@dataclass
class Steady:
    now_s: float = 100.0

    def __call__(self) -> float:
        return self.now_s


def refusal(store: PlanStore, plan_id: str) -> str:
    with pytest.raises(NoSuchPlan) as caught:
        store.find(plan_id)
    assert (caught.value.outcome.code, caught.value.outcome.field_name) == (Code.BAD_GOAL, "plan_id")
    return caught.value.outcome.message


def test_a_plan_is_found_by_its_id() -> None:
    store = PlanStore()
    first, second = store.keep(PLAN), store.keep(PLAN)
    assert first.plan_id != second.plan_id
    assert first.plan_id.startswith("home-")
    assert store.find(first.plan_id) is first
    assert first.kept_for_s == KEPT_FOR_S


def test_an_unknown_plan_is_refused_with_the_rule() -> None:
    text = refusal(PlanStore(), "home-0")
    assert text.startswith("plan 'home-0' is not known")
    assert f"{PLANS_KEPT} plans are kept for {KEPT_FOR_S:g} s" in text


def test_an_old_plan_is_refused_with_its_age() -> None:
    steady = Steady()
    store = PlanStore(steady)
    kept = store.keep(PLAN)
    steady.now_s += KEPT_FOR_S
    assert store.find(kept.plan_id) is kept
    steady.now_s += 1.0
    assert f"is {KEPT_FOR_S + 1:.0f} s old" in refusal(store, kept.plan_id)


def test_the_oldest_plan_makes_room() -> None:
    store = PlanStore()
    ids = [store.keep(PLAN).plan_id for _ in range(PLANS_KEPT + 1)]
    assert "is not known" in refusal(store, ids[0])
    assert all(store.find(one).plan_id == one for one in ids[1:])


def test_a_long_id_is_cut_in_the_message() -> None:
    assert len(refusal(PlanStore(), "x" * 10_000)) < 400


@pytest.mark.parametrize("call", ["keep", "find"])
def test_an_expired_plan_takes_no_memory(call: str) -> None:
    steady = Steady()
    store = PlanStore(steady)
    skill = Home()
    kept, plan_id = weakref.ref(skill), store.keep(replace(PLAN, skill=skill)).plan_id
    del skill
    gc.collect()
    assert kept() is not None
    steady.now_s += KEPT_FOR_S + 1.0
    if call == "keep":
        store.keep(PLAN)
    else:
        refusal(store, plan_id)
    gc.collect()
    assert kept() is None
