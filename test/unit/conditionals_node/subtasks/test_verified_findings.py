"""What a review of thousands of RoboLab episodes found wrong with its verdicts: one test for each finding.

``docs/explanation/verdicts.md`` lists the findings under the names of these tests.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from conditionals_node.events.task_event import EventRules
from conditionals_node.expressions.build import Builder
from conditionals_node.predicates.grip import MIN_CLOSED
from conditionals_node.subtasks.success import ORIGINAL
from handiwork_core.contracts.predicate import Truth
from handiwork_core.model.world import World
from support.records.tabletop import IN_BIN, OBJECTS, ON_TABLE, OVER_BIN, ROBOT, Episode, Shown, solid

PUT = "{name: tidy, subtasks: [{name: put, pick_and_place: {object: [cube], container: bin}}]}"
LIES_IN = "object_in_container(object=cube, container=bin, require_gripper_detached=true)"
PLAIN = f'{{name: tidy, subtasks: [{{name: put, groups: {{cube: [{{expression: "{LIES_IN}"}}]}}}}]}}'


def with_success(text: str, options: str) -> str:
    return text.replace("tidy,", f"tidy, success: {{{options}}},")


def lying() -> Shown:
    return Shown({"cube": IN_BIN})


def truth(expression: str, shown: Shown) -> Truth:
    name, _, args = expression.partition(" ")
    condition = Builder(ROBOT).build_text(name, args, 0.0)
    return condition.expression.decide(lambda leaf: leaf.predicate.evaluate(shown.world(1.0))).truth


def test_a_success_is_confirmed_when_its_objects_have_rested() -> None:
    episode = Episode(PUT)
    episode.carry("cube", IN_BIN)
    episode.show(Shown({"cube": IN_BIN}, {"cube": 0.03}), times=20)
    assert episode.watch.judge.run.done[0]
    assert (episode.watch.life.at_peak, episode.watch.refusals) == (False, ["cube is not at rest"])
    episode.show(lying(), times=2)
    assert not episode.watch.life.at_peak
    assert episode.show(lying()) == ["TASK_CONFIRMED"]
    life = episode.watch.life
    assert (life.at_peak, life.at_end, life.confirmed_s) == (True, True, pytest.approx(episode.t))
    assert life.longest_s == pytest.approx(episode.t - life.first_true_s)


@pytest.mark.parametrize(("speed", "rests"), [(0.0199, True), (0.02, False)])
def test_rest_is_below_two_centimetres_per_second(speed: float, rests: bool) -> None:
    episode = Episode(PUT)
    episode.carry("cube", IN_BIN)
    episode.show(lying())  # pick_and_place has a limit of its own for its last step
    episode.show(Shown({"cube": IN_BIN}, {"cube": speed}), times=5)
    assert episode.watch.life.at_end is rests


def test_the_rules_of_the_original_take_the_first_true_frame() -> None:
    words = "require_stationary: false, confirm_s: 0, settle_s: 0, exclusive: false, by_robot: false"
    text = with_success(PLAIN, words)
    episode = Episode(text)
    assert episode.watch.task.success == ORIGINAL
    codes = episode.show(Shown({"cube": IN_BIN, "can": (0.55, 0.0, 0.05)}, {"cube": 1.0}))
    assert codes[:2] == ["CONDITION_GAINED", "TASK_DONE"]
    assert codes[-1] == "TASK_CONFIRMED"


@pytest.mark.parametrize(("opening", "grasped"), [(0.04, False), (0.02, True)])
def test_an_open_hand_holds_nothing(opening: float, grasped: bool) -> None:
    assert MIN_CLOSED > 0.0
    shown = Shown(held=("cube",), opening=opening)
    assert truth("object_grabbed {object: cube}", shown) is Truth.of(grasped)


def test_both_finger_pads_must_press() -> None:
    assert truth("object_grabbed {object: cube}", Shown(touched=("cube",), opening=0.02)) is Truth.FALSE


@pytest.mark.parametrize(("times", "lifted", "carried"), [(4, 0.2, True), (2, 0.2, False), (4, 0.029, False)])
def test_a_grasp_carries_only_what_follows_it(times: int, lifted: float, carried: bool) -> None:
    episode = Episode(PLAIN)
    episode.show(Shown(held=("cube",)))
    place = (0.0, 0.0, 0.02 + lifted if lifted > 0.1 else lifted)
    episode.show(Shown({"cube": place}, held=("cube",)), times=times - 1)
    episode.show(lying(), times=5)
    assert episode.watch.life.at_end is carried
    assert episode.watch.refusals == ([] if carried else ["cube was moved, but no hand carried it"])


def test_pushing_or_sweeping_into_the_bin_is_no_success_unless_the_task_says_so() -> None:
    swept = Shown({"cube": IN_BIN, "can": (0.55, 0.05, 0.05)})
    episode = Episode(PLAIN)
    episode.show(swept, times=5)
    assert episode.watch.judge.run.done[0]
    assert not episode.watch.life.at_peak
    wrong = ["cube was moved, but no hand carried it", "can was put there too"]
    assert episode.watch.refusals == wrong
    for options, refused in (
        ("by_robot: false", wrong[1:]),
        ("exclusive: false", wrong[:1]),
        ("by_robot: false, exclusive: false", []),
    ):
        other = Episode(with_success(PLAIN, options))
        other.show(swept, times=5)
        assert (other.watch.refusals, other.watch.life.at_end) == (refused, not refused)


def test_a_wrong_object_counts_until_it_is_taken_out_and_not_if_it_was_there_before() -> None:
    can_in = {"can": (0.55, 0.05, 0.05)}
    episode = Episode(PUT)
    episode.carry("cube", IN_BIN, **can_in)
    episode.show(Shown({"cube": IN_BIN, **can_in}), times=5)
    assert episode.watch.refusals == ["can was put there too"]
    episode.show(lying(), times=5)
    assert episode.watch.life.at_end
    before = Episode(PUT, start=Shown(can_in))
    before.carry("cube", IN_BIN, **can_in)
    before.show(Shown({"cube": IN_BIN, **can_in}), times=5)
    assert (before.watch.refusals, before.watch.life.at_end) == ([], True)


def test_what_holds_at_the_start_earns_nothing() -> None:
    episode = Episode(PLAIN, start=lying())
    episode.show(lying(), times=10)
    assert (episode.watch.judge.run.done[0], episode.watch.score) == (True, 0.0)
    assert not episode.watch.life.at_peak
    assert episode.watch.refusals == ["all its conditions held at the start"]
    # Taken out and put back it earns.
    episode.show(Shown({"cube": IN_BIN}, held=("cube",)), times=2)
    episode.show(Shown({"cube": OVER_BIN}, held=("cube",)), times=3)
    episode.show(lying(), times=5)
    assert (episode.watch.score, episode.watch.life.at_end) == (1.0, True)


def test_what_holds_for_a_moment_while_objects_settle_earns_nothing() -> None:
    episode = Episode(PLAIN)
    episode.watch.restart(episode.t)
    episode.show(Shown({"cube": OVER_BIN}, {"cube": -0.5}), times=3)
    episode.show(Shown(), times=12)
    assert (episode.watch.judge.run.current[0], episode.codes) == (0, [])
    episode.carry("cube", IN_BIN)
    episode.show(lying(), times=5)
    assert (episode.watch.score, episode.watch.life.at_end) == (1.0, True)


def test_a_task_starts_when_its_world_is_known() -> None:
    episode = Episode(PLAIN)
    episode.watch.restart(episode.t)
    for empty in (World(0.0), World(episode.t + 1.0, states=lying().world(episode.t).states)):
        episode.evaluation.begin(empty, episode.t + 1.0)
        episode.watch.update(empty, episode.t + 1.0)
    episode.t += 10.0  # such as the time until the geometry of the objects has come
    episode.show(lying(), times=15)
    assert (episode.watch.score, episode.watch.life.at_peak) == (0.0, False)
    assert episode.watch.refusals == ["all its conditions held at the start"]


def test_objects_that_sink_at_a_reset_make_no_events() -> None:
    sinking = Shown({"can": (-0.3, 0.0, 0.14)}, {"can": 0.3})
    episode = Episode(PUT)
    episode.watch.restart(episode.t)
    episode.show(sinking, times=3)
    episode.show(Shown(), times=12)
    assert episode.codes == []


def test_success_at_the_peak_and_at_the_end_are_told_apart() -> None:
    episode = Episode(PUT)
    episode.carry("cube", IN_BIN)
    episode.show(lying(), times=4)
    assert episode.success.end_score[0] == episode.success.peak_score[0] == 1.0
    codes = episode.show(Shown({"cube": (0.8, 0.0, 0.02)}), times=3)
    assert codes[0] == "TASK_LOST"
    life = episode.watch.life
    assert (life.at_peak, life.at_end, math.isnan(life.since_s)) == (True, False, True)
    # Progress stays; the score of the final frame loses the condition that ceased to hold.
    assert (episode.watch.score, episode.success.end_score[0], episode.success.peak_score[0]) == (
        1.0,
        0.75,
        1.0,
    )


def test_a_stage_that_need_not_last_may_cease_to_hold() -> None:
    held = '{expression: "object_grabbed(object=cube)"}'
    text = f"{{name: tidy, subtasks: [{{name: take, groups: {{cube: [{held}]}}}}, {PLAIN[PLAIN.index('[') + 1 :]}"
    episode = Episode(text)
    episode.carry("cube", IN_BIN)
    episode.show(lying(), times=5)
    assert (episode.watch.life.at_end, episode.success.end_score[0]) == (True, 1.0)
    strict = Episode(text.replace("name: take,", "name: take, lasts: true,"))
    strict.carry("cube", IN_BIN)
    strict.show(lying(), times=5)
    assert (strict.watch.life.at_peak, strict.success.end_score[0]) == (False, 0.5)


def bowls(inner: str, outer: str) -> Shown:
    """Return two equal bowls, which are boxes here; the inner one is 8 mm higher."""
    objects = {**OBJECTS, "a": solid("a", 0.16, 0.16, 0.06), "b": solid("b", 0.16, 0.16, 0.06)}
    return Shown({outer: (0.3, 0.3, 0.03), inner: (0.3, 0.3, 0.038)}, objects=objects)


def test_of_two_nested_bowls_only_the_inner_one_was_put_into_the_other() -> None:
    for inner, right in (("a", True), ("b", False)):
        text = "{name: tidy, subtasks: [{name: s, pick_and_place: {object: [a], container: b}}]}"
        episode = Episode(text, start=Shown(objects=bowls("a", "b").objects))
        last = episode.watch.task.stages[0].groups[0].steps[-1].key
        found = episode.watch.task.expressions[last].decide(
            lambda leaf, inner=inner: leaf.predicate.evaluate(
                bowls(inner, "ba".replace(inner, "")).world(1.0)
            )
        )
        assert found.truth is Truth.of(right)


@pytest.mark.parametrize(("over_rim", "lies"), [(0.04, True), (0.06, False)])
def test_the_space_over_a_container_ends_five_centimetres_over_its_rim(over_rim: float, lies: bool) -> None:
    episode = Episode(PUT)
    episode.carry("cube", IN_BIN)
    episode.show(Shown({"cube": (0.5, 0.0, 0.1 + over_rim)}), times=2)
    assert bool(episode.watch.judge.run.done[0]) is lies


def test_a_list_of_conditions_is_a_sequence() -> None:
    steps = ", ".join(
        f'{{expression: "{text}"}}'
        for text in ("object_grabbed(object=cube)", LIES_IN, "object_dropped(object=cube)")
    )
    episode = Episode(f"{{name: tidy, subtasks: [{{name: s, groups: {{cube: [{steps}]}}}}]}}")
    assert episode.watch.judge.run.runs[0].groups[0].next[0] == 0
    episode.carry("cube", IN_BIN)
    assert episode.watch.judge.run.runs[0].groups[0].next[0] == 1
    episode.show(lying())
    assert episode.watch.judge.run.done[0]


def test_the_objects_of_a_task_are_no_wrong_objects_whatever_its_groups_are_called() -> None:
    episode = Episode(PLAIN.replace("{cube:", "{group1:"))
    episode.carry("cube", IN_BIN)
    assert "WRONG_OBJECT_GRABBED" not in episode.codes
    assert "GRIPPER_HIT_OBJECT" not in episode.codes


def test_bursts_of_the_same_event_are_one() -> None:
    assert EventRules().merge_s == 2.0
    episode = Episode(PLAIN)
    for _ in range(100):
        episode.show(Shown(held=("can",)))
        episode.show(Shown())
    assert [episode.codes.count(code) for code in ("WRONG_OBJECT_GRABBED", "GRIPPER_HIT_OBJECT")] == [1, 1]


def test_a_hand_that_closes_on_something_is_not_fully_closed_and_0_98_is() -> None:
    holding = Episode(PLAIN)
    assert "GRIPPER_FULLY_CLOSED" not in holding.show(Shown(held=("cube",), opening=0.0))
    for opening, closed in ((0.04 * 0.03, False), (0.04 * 0.02, True)):
        empty = Episode(PLAIN)
        assert (empty.show(Shown(opening=opening)) == ["GRIPPER_FULLY_CLOSED"]) is closed


def test_what_falls_from_the_table_cannot_be_won_any_more() -> None:
    episode = Episode(PUT)
    episode.show(Shown({"cube": (1.2, 0.0, -0.12)}))
    assert not episode.success.unwinnable[0]
    episode.show(Shown({"cube": (1.2, 0.0, -0.7)}))
    assert episode.success.unwinnable[0]
    one_of_two = Episode(PUT.replace("[cube]", "[cube, can]").replace("put,", "put, logical: any,"))
    one_of_two.show(Shown({"cube": (1.2, 0.0, -0.7)}))
    assert not one_of_two.success.unwinnable[0]


def test_disturbed_objects_are_counted() -> None:
    episode = Episode(PUT)
    for x in (-0.3, -0.4, -0.5):
        episode.show(Shown({"can": (x, 0.0, 0.04)}, {"can": 0.5 if x > -0.5 else 0.0}))
    assert (episode.codes, episode.watch.judge.collateral[0]) == (["OBJECT_BUMPED"], 1)


def test_a_push_is_stamped_at_its_onset_and_at_its_detection() -> None:
    episode = Episode(PUT)
    onset_s = episode.t + episode.period_s
    for x, speed in ((-0.3, 0.5), (-0.4, 0.5), (-0.5, 0.0)):
        episode.show(Shown({"can": (x, 0.0, 0.04)}, {"can": speed}))
    (bumped,) = episode.events
    assert (bumped.onset_s, bumped.stamp_s) == (pytest.approx(onset_s), pytest.approx(episode.t))


def test_a_drop_begins_with_the_last_instant_of_touch() -> None:
    episode = Episode(PUT)
    episode.show(Shown(held=("cube",)))
    held_s = episode.t
    episode.show(Shown({"cube": ON_TABLE}))
    dropped = [event for event in episode.events if event.code.name == "TARGET_OBJECT_DROPPED"]
    assert [(event.onset_s, event.stamp_s) for event in dropped] == [(held_s, episode.t)]


def test_a_task_that_begins_again_has_lived_nothing() -> None:
    episode = Episode(PUT)
    episode.carry("cube", IN_BIN)
    episode.show(lying(), times=5)
    episode.watch.restart(episode.t)
    assert (episode.watch.life.at_peak, episode.success.peak_score[0]) == (False, 0.0)
    episode.show(lying(), times=20)
    assert (episode.watch.life.at_peak, episode.watch.score) == (False, 0.0)


def test_what_cannot_be_known_neither_confirms_nor_ends_a_success() -> None:
    episode = Episode(PUT)
    episode.carry("cube", IN_BIN)
    episode.show(lying(), times=4)
    since_s = episode.watch.life.since_s
    objects = {name: item for name, item in OBJECTS.items() if name != "cube"}
    episode.show(Shown(objects=objects), times=3)
    assert (episode.watch.life.at_end, episode.watch.life.since_s) == (False, since_s)
    episode.show(lying(), times=3)
    assert episode.watch.life.at_end


@pytest.mark.parametrize(
    "name", ["rest_mps", "confirm_s", "settle_s", "push_m", "carry_s", "carry_m", "drift_m", "sink_m"]
)
def test_impossible_options_are_refused(name: str) -> None:
    with pytest.raises(Exception, match=f"success.{name}: is -1; write 0 or more"):
        Episode(with_success(PUT, f"{name}: -1.0"))
    assert np.isfinite(getattr(ORIGINAL, name))
