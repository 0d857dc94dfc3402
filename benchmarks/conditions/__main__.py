"""Time of predicates, beside the plain torch formulation: ``python -m benchmarks.conditions [--worlds 4096]``.

One predicate on one world, and the same on many; CPU time of one thread, the best of several rounds. The columns of
torch need ``pip install torch``; without it they stay empty.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from conditionals_node.batch import Worlds, evaluate
from conditionals_node.predicates.containment import ObjectInContainer
from conditionals_node.predicates.direction import ObjectLeftOf
from conditionals_node.predicates.grip import ObjectGrabbed
from conditionals_node.predicates.motion import ObjectStationary, ObjectUpright
from conditionals_node.predicates.nearby import ObjectBetween, ObjectNextTo
from conditionals_node.predicates.support import ObjectOnTop
from conditionals_node.predicates.vertical import ObjectAbove
from conditionals_node.spaces.hulls import hull
from handiwork_core.contracts.predicate import Predicate
from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.world import (
    Contact,
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)

ROUNDS = 15


def boxy(name: str, *size: float) -> WorldObject:
    """Return an object that is a box.

    Args:
        name: Name of the object.
        size: Edges, (3,), m.
    """
    return WorldObject(name, (Shape(ShapeKind.BOX, frozen(size), Pose.identity()),))


def bowl() -> WorldObject:
    """Return half a ball of 192 points, of which most are corners of the hull."""
    turns, tilts = np.arange(24) * (np.pi / 12), np.linspace(0.05, np.pi / 2, 8)
    points = [(np.sin(t) * np.cos(a), np.sin(t) * np.sin(a), 1.0 - np.cos(t)) for t in tilts for a in turns]
    return WorldObject(
        "bowl", (Shape(ShapeKind.CONVEX, frozen(()), Pose.identity(), frozen(0.1 * np.array(points))),)
    )


def crate() -> WorldObject:
    """Return a box with a floor and four walls, which has a cavity."""
    walls = [((0.01, 0.2, 0.1), (s * 0.145, 0.0, 0.05)) for s in (-1, 1)]
    ends = [((0.28, 0.01, 0.1), (0.0, s * 0.095, 0.05)) for s in (-1, 1)]
    parts = [((0.3, 0.2, 0.01), (0.0, 0.0, 0.005)), *walls, *ends]
    return WorldObject("crate", tuple(Shape(ShapeKind.BOX, frozen(size), Pose.of(at)) for size, at in parts))


OBJECTS = {
    "cube": boxy("cube", 0.04, 0.04, 0.04),
    "bin": boxy("bin", 0.3, 0.2, 0.1),
    "table": boxy("table", 1.0, 1.0, 0.05),
    "bowl": bowl(),
    "crate": crate(),
}
FINGERS = ("r/left", "r/right")
PREDICATES: tuple[Predicate, ...] = (
    ObjectInContainer("cube", "bin"),
    ObjectInContainer("cube", "bowl"),
    ObjectInContainer("cube", "crate"),
    ObjectInContainer(
        "cube",
        "bin",
        require_contact_with=True,
        require_gripper_detached=True,
        require_stationary=True,
        fingers=FINGERS,
    ),
    ObjectAbove("cube", "bin"),
    ObjectOnTop("cube", "table"),
    ObjectLeftOf("cube", "bin"),
    ObjectNextTo("cube", "bin"),
    ObjectBetween("cube", "bin", "bowl"),
    ObjectUpright("cube"),
    ObjectStationary("cube"),
    ObjectGrabbed("cube", fingers=FINGERS),
)


def random_worlds(n: int, seed: int) -> list[World]:
    """Return worlds of objects near each other, with forces between them.

    Args:
        n: Number of worlds.
        seed: Seed of the poses and forces.
    """
    rng = np.random.default_rng(seed)
    pairs = [("cube", "bin"), ("cube", "table"), *(("cube", finger) for finger in FINGERS)]
    return [_world(rng, pairs) for _ in range(n)]


def _world(rng: np.random.Generator, pairs: list[tuple[str, str]]) -> World:
    states = {}
    for name in OBJECTS:
        q = rng.normal(size=4)
        pose = Pose.of(0.1 * rng.normal(size=3), Rotation.from_wxyz(q / np.linalg.norm(q)))
        states[name] = ObjectState(pose, frozen(rng.normal(size=3)), frozen(rng.normal(size=3)), 0.0)
    contacts = tuple(Contact(a, b, frozen(rng.normal(size=3)), frozen(rng.normal(size=3))) for a, b in pairs)
    return World(0.0, 0, OBJECTS, states, contacts, 0.0, frames={"robot": Pose.identity()})


def seconds(work: Callable[[], object], calls: int) -> float:
    """Return the CPU time of one call in the best round, s.

    Args:
        work: The call.
        calls: Calls per round.
    """
    work()
    spent = []
    for _ in range(ROUNDS):
        before = time.process_time()
        for _ in range(calls):
            work()
        spent.append((time.process_time() - before) / calls)
    return min(spent)


def torch_containment(container: str, worlds: Worlds) -> Callable[[], Any] | None:
    """Return the plain formulation: turn the point out and in, one product with all planes, the greatest distance.

    Args:
        container: Name of the container.
        worlds: The worlds.

    Returns:
        A function of the verdicts, (n,) bool; None without torch.
    """
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)

    def turned(q: Any, v: Any, sign: float) -> Any:
        w, u = sign * q[:, :1], q[:, 1:]
        t = 2.0 * torch.cross(u, v, dim=-1)
        return v + w * t + torch.cross(u, t, dim=-1)

    def tensor(values: Array) -> Any:
        return torch.tensor(values, dtype=torch.float32)

    planes = tensor(hull(OBJECTS[container]).open_planes)
    point = tensor(hull(OBJECTS["cube"]).centroid)
    of, at = worlds.poses["cube"], worlds.poses[container]
    q_o, p_o, q_c, p_c = (tensor(values) for values in (of.wxyz, of.position, at.wxyz, at.position))

    def decide() -> Any:
        out = turned(q_o, point.expand_as(p_o), 1.0) + p_o - p_c
        local = turned(q_c, out, -1.0)
        return (local @ planes[:, :3].T + planes[:, 3]).amax(dim=-1) <= 0.0

    return decide


def fresh(worlds: Worlds) -> Worlds:
    """Return the same worlds without cached results.

    Args:
        worlds: The worlds; changed.
    """
    worlds.derived.clear()
    return worlds


def show_containment(worlds: list[World]) -> None:
    """Print the times of ObjectInContainer beside those of torch.

    Args:
        worlds: The worlds.
    """
    print(
        f"{'object_in_container':<36}{'worlds':>8}{'us/call':>10}{'ns/world':>10}{'torch us':>10}{'ns/world':>10}"
    )
    for container, n in itertools.product(("bin", "bowl"), (1, 64, 1024, len(worlds))):
        batch, calls = Worlds.of(worlds[:n]), max(3, 20000 // n // 10)
        predicate = ObjectInContainer("cube", container)
        ours = seconds(lambda p=predicate, b=batch: evaluate(p, fresh(b)), calls)  # type: ignore[misc]
        plain = torch_containment(container, batch)
        theirs = seconds(plain, calls) if plain else float("nan")
        name = f"{container}, {len(hull(OBJECTS[container]).open_planes)} faces"
        print(
            f"{name:<36}{n:>8}{1e6 * ours:>10.1f}{1e9 * ours / n:>10.1f}{1e6 * theirs:>10.1f}{1e9 * theirs / n:>10.1f}"
        )
        if plain is not None:
            differ = int((evaluate(predicate, batch).holds != plain().numpy()).sum())
            assert differ <= n // 1000, f"{differ} of {n} verdicts differ"


def show_all(worlds: list[World]) -> None:
    """Print the time of every predicate, alone and in a batch.

    Args:
        worlds: The worlds.
    """
    batch = Worlds.of(worlds)
    print(f"\n{'predicate':<36}{'one world us':>14}{f'{batch.n} worlds ns/world':>26}")
    for predicate in PREDICATES:
        one = seconds(lambda p=predicate: p.evaluate(alone(worlds[0])), 2000)  # type: ignore[misc]
        many = seconds(lambda p=predicate: evaluate(p, fresh(batch)), 5)  # type: ignore[misc]
        extra = " + contact, released, at rest" if getattr(predicate, "require_stationary", False) else ""
        other = f" {predicate.container}" if isinstance(predicate, ObjectInContainer) and not extra else ""
        label = f"{predicate.name}{other}{extra}"
        print(f"{label[:35]:<36}{1e6 * one:>14.2f}{1e9 * many / batch.n:>26.1f}")


def alone(world: World) -> World:
    """Return a world without cached results.

    Args:
        world: The world; changed.
    """
    world.derived.clear()
    return world


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=4096)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    worlds = random_worlds(options.worlds, options.seed)
    show_containment(worlds)
    show_all(worlds)


if __name__ == "__main__":
    main()
