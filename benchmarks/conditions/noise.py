"""Conditions on noisy poses: ``python -m benchmarks.conditions.noise [--mm 5 --deg 3 --seconds 3]``.

The public situations are seen at 10 Hz by a camera whose poses have white noise of known covariance; forces and joints
are exact. A verdict of a frame is firm when it is TRUE or FALSE, and wrong when a person's verdict is the other one.
Printed for the verdicts without the rule for doubt, and with it for several limits: the share of wrong firm verdicts
and of open ones, with Wilson's intervals at 95 %, which are about the noise in these scenes. Questions on which the
conditions disagree with the person without noise are left out and counted. ``--cost`` prints the time of one snapshot
with 100 watched conditions instead.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from conditionals_node.doubt.doubts import Doubts
from conditionals_node.expressions.build import Builder, Condition
from conditionals_node.expressions.definitions import Definitions
from conditionals_node.monitoring.monitor import ConditionMonitor
from conditionals_node.scoring import load_situations
from handiwork_core.contracts.predicate import Finding, Truth
from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import ObjectState, World
from handiwork_core.robot_files.loader import load_robot

ROOT = Path(__file__).resolve().parents[2]
ROBOT = ROOT / "src/robot_description/robots/fr3"
RATE_HZ = 10.0
LIMITS = (0.01, 0.02, 0.05, 0.1)


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a settled world, with a person's answer."""

    scene: str
    world: World
    condition: Condition
    label: Truth


@dataclass(slots=True)
class Tally:
    """Counts of verdicts."""

    firm: int = 0
    wrong: int = 0
    open: int = 0

    def add(self, truth: Truth, label: Truth) -> None:
        """Count one verdict."""
        if truth is Truth.UNKNOWN:
            self.open += 1
        else:
            self.firm += 1
            self.wrong += truth is not label


def recorded() -> Iterator[Question]:
    """Yield all questions of the recorded situations that have an answer."""
    definitions = Definitions(Builder(load_robot(ROBOT)))
    for situation in load_situations():
        for question in situation.questions:
            condition = definitions.make("", "", question.expression, 0.0)
            if question.label is not Truth.UNKNOWN:
                yield Question(situation.key, situation.world, condition, question.label)


def crowded() -> World:
    """Return six cubes beside a bin on a table."""
    wanted = {"cube", "bin", "table"}
    world = next(one.world for one in load_situations() if wanted <= one.world.states.keys())
    states = {name: world.states[name] for name in ("bin", "table")}
    objects = {name: world.objects[name] for name in states}
    for i in range(6):
        place = Pose.of((0.4 + 0.08 * i, 0.2, 0.02))
        states[f"cube{i}"] = replace(world.states["cube"], world_T_object=place)
        objects[f"cube{i}"] = replace(world.objects["cube"], name=f"cube{i}")
    return replace(world, states=states, objects=objects)


def seen_world(world: World, mm: float, deg: float, rng: np.random.Generator, fixed: bool) -> World:
    """Return what a camera sees of a world.

    Args:
        world: The real world.
        mm: Standard deviation of each coordinate, mm.
        deg: Standard deviation of the rotation about each axis, deg.
        rng: Draws the noise.
        fixed: True when static objects, such as the table, are measured too.
    """
    deviations = np.array([1e-3 * mm] * 3 + [math.radians(deg)] * 3)
    covariance = frozen(np.diag(deviations**2))
    states: dict[str, ObjectState] = {}
    for name, state in world.states.items():
        if world.objects[name].is_static and not fixed:
            states[name] = state
            continue
        off, pose = deviations * rng.normal(size=6), state.world_T_object
        angle = float(np.linalg.norm(off[3:]))
        turn = Rotation.from_axis_angle(off[3:], angle) @ pose.rotation
        states[name] = replace(
            state, world_T_object=Pose.of(pose.translation_m + off[:3], turn), pose_covariance=covariance
        )
    return replace(world, states=states)


def decided(asked: Sequence[Question], world: World) -> Iterator[tuple[Question, Finding]]:
    """Yield the finding on each question, with its probability to be turned by noise and without a limit for it."""
    doubts = Doubts(world)
    for question in asked:
        expression = question.condition.expression
        yield question, doubts.judged(expression, lambda leaf: leaf.predicate.evaluate(world), 1.0)


def shown(count: int, of: int) -> str:
    """Return a share in percent with its interval."""
    if of == 0:
        return "none measured"
    low, high = binomtest(count, of).proportion_ci(method="wilson")
    return f"{100 * count / of:6.2f} % ({100 * low:.2f} to {100 * high:.2f})"


def measure(options: argparse.Namespace) -> None:
    """Print the shares of wrong and of open verdicts."""
    asked = list(recorded())
    by_scene: dict[str, list[Question]] = {}
    for question in asked:
        exact = question.condition.expression.decide(
            lambda leaf, w=question.world: leaf.predicate.evaluate(w)
        )  # type: ignore[misc]
        if exact.truth is question.label:
            by_scene.setdefault(question.scene, []).append(question)
    left = len(asked) - sum(map(len, by_scene.values()))
    rng, frames = np.random.default_rng(options.seed), max(1, round(options.seconds * RATE_HZ))
    rows = {"without": Tally()} | {f"max_flip {limit:g}": Tally() for limit in options.limits}
    flips: list[tuple[float, bool]] = []
    for of_scene in by_scene.values():
        for _ in range(frames):
            world = seen_world(of_scene[0].world, options.mm, options.deg, rng, options.fixed)
            for question, found in decided(of_scene, world):
                rows["without"].add(found.truth, question.label)
                if found.truth is not Truth.UNKNOWN:
                    flips.append((found.flip_probability, found.truth is not question.label))
                for limit in options.limits:
                    in_doubt = found.flip_probability > limit
                    rows[f"max_flip {limit:g}"].add(
                        Truth.UNKNOWN if in_doubt else found.truth, question.label
                    )
    print(
        f"{len(by_scene)} scenes, {len(asked) - left} questions, {left} left out, {frames} frames, "
        f"{options.mm:g} mm, {options.deg:g} deg"
    )
    print(f"{'':<16}{'wrong of all verdicts':>28}{'wrong of firm ones':>28}{'open':>28}")
    for name, tally in rows.items():
        total = tally.firm + tally.open
        row = (shown(tally.wrong, total), shown(tally.wrong, tally.firm), shown(tally.open, total))
        print(f"{name:<16}" + "".join(f"{text:>28}" for text in row))
    calibrate(flips)


def calibrate(flips: Sequence[tuple[float, bool]]) -> None:
    """Print how often verdicts were wrong, by the probability that was computed for it."""
    edges = (0.0, 1e-9, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 1.01)
    print(f"\n{'flip_probability':<20}{'verdicts':>10}{'mean':>10}{'wrong':>28}")
    for low, high in itertools.pairwise(edges):
        some = [(flip, wrong) for flip, wrong in flips if low <= flip < high]
        if some:
            mean, count = statistics.fmean(flip for flip, _ in some), sum(wrong for _, wrong in some)
            name = f"{low:.2g} to {high:.2g}"
            print(f"{name:<20}{len(some):>10}{mean:>10.3f}{shown(count, len(some)):>28}")


def cost(options: argparse.Namespace) -> None:
    """Print the time of one snapshot with 100 watched conditions, with exact and with measured poses."""
    world, builder = crowded(), Builder(load_robot(ROBOT))
    things = [name for name, item in world.objects.items() if not item.is_static]
    pairs = [(a, b) for a in things for b in [*things, "bin", "table"] if a != b]
    kinds = ("object_on_top", "object_above", "object_next_to", "object_left_of")
    watched = [
        *(builder.build("object_in_container", {"object": a, "container": "bin"}) for a in things),
        *(builder.build("object_upright", {"object": a}) for a in things),
        *(builder.build(kind, {"object": a, "reference_object": b}) for a, b in pairs for kind in kinds),
    ][:100]
    print(
        f"{len(watched)} conditions, {len(world.states)} objects; processor time of one snapshot, median [ms]"
    )
    for name, mm in (("exact", 0.0), ("measured", options.mm)):
        rng, monitor, spent = np.random.default_rng(options.seed), ConditionMonitor(1e9), list[float]()
        for condition in watched:
            monitor.watch(condition, 0.0)
        for frame in range(40):
            seen = seen_world(world, options.mm, options.deg, rng, options.fixed)
            if mm == 0.0:
                bare = {n: replace(s, pose_covariance=None) for n, s in seen.states.items()}
                seen = replace(seen, states=bare)
            begin = time.process_time()
            monitor.update(seen, 0.1 * frame)
            spent.append(1e3 * (time.process_time() - begin))
        print(f"{name:<10}{statistics.median(spent[5:]):>8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mm", type=float, default=5.0)
    parser.add_argument("--deg", type=float, default=3.0)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--limits", type=float, nargs="*", default=LIMITS)
    parser.add_argument("--fixed", action="store_true", help="measure static objects too, such as the bin")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    (cost if options.cost else measure)(options)


if __name__ == "__main__":
    main()
