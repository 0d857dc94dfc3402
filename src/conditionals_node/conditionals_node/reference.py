"""The table of all predicates: ``python -m conditionals_node.reference > docs/reference/conditions.md``."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import sys
import typing

from handiwork_core.contracts.predicate import Predicate

from .predicates import BUILTIN
from .predicates.measured import Relation

HEAD = """# Conditions

Every predicate, with its arguments and their defaults. This page is written by `python -m
conditionals_node.reference`.

A condition has one of three values. UNKNOWN comes with its reason: an object without a pose, a mesh without volume,
no contact source. The margin is the distance to the boundary in the unit given below: above 0 exactly when the
value is TRUE, not a number when it is UNKNOWN. Evidence names every number that decided. Lengths are in metres,
angles in radians unless an argument ends in `_deg`, forces in newtons; `x`, `y`, `z` are the axes of `world`.

Rules that all share:

- A boundary belongs to the inside: 0.1 N is enough where 0.1 N is needed, an object exactly on the rim is in the
  container. Only "slower than", "not in" and "does not touch" are strict.
- `object` may be one name or several. `logical: all` (default), `any`, or `choose`, which means exactly `K`. What
  is unknown about one object makes the whole UNKNOWN only where it matters.
- Contact is measured by the size of the force between two bodies in any direction; squeezing from both sides
  does not cancel, since simulators publish the two sides apart.
- `gripper_name` is the name of a gripper or of an arm; `gripper` means all of the robot. Links of a robot are named
  `<robot>/<link>`.
- What is in a container is in its cavity, which is computed once from its shapes; see [the inside of a
  container](../explanation/containers.md). Its opening must look up, at most `max_tilt_deg` farther from straight up
  than in the container's own frame, and `above_rim` is 0 unless it is given. `object_in_hull` is the test of the
  original.
- `centre` is the centroid of the hull's volume, which does not depend on how a mesh is cut into triangles.
- Relations of place use the shapes as seen from above: a mesh counts as its convex hull there, a circle as a polygon of
  32 corners. Heights are those of the lowest and the highest point, exact for round shapes.
- Where poses are measured with noise, a condition is UNKNOWN when the noise would turn it with a probability above
  `max_flip`; see [measured poses](../explanation/verdicts.md#poses-that-are-measured).
- A wrong argument is refused when a condition is registered, with the name of the argument. An object that
  does not exist is UNKNOWN, since it may come.

"""

COMMON = """
## Arguments of everything that has `object`

| argument | default | meaning |
|---|---|---|
| `logical` | `all` | `all`, `any` or `choose` over several objects |
| `K` | 1 | how many, exactly, for `choose` |
| `require_contact_with` | false | true: the reference objects; or names of bodies; all of them must touch the object |
| `require_gripper_detached` | false | no finger may touch the object |
| `gripper_name` | `gripper` | whose fingers |
| `fingers` | the robot's | body names of the fingers |
| `min_force` | 0.1 | force from which bodies touch [N] |
| `weight_share` | 0.3 | share of the weight of a light body, of known mass, that is enough for a touch; 0: none |

Where one of these decides, the margin is in N.

## Where the verdicts differ from RoboLab 0.2.1

Names and arguments are those of RoboLab (Apache-2.0), and the verdicts agree but for these points:

- A share of the object must be in the cavity of a container, of whatever shape, not one point in its hull without a
  lid. `object_in_hull` has that test: with `point: vertex_mean` its verdicts are those of RoboLab for
  `object_in_container`, and with `closed: true` those for `object_enclosed`; its default point is the centroid of the
  volume, which does not move with the mesh.
- `tolerance` of containment counts; it is 0 when it is left out.
- Places are those of shapes: `extent: box` (above, below, on top, next to, picked up, stacked), `seen: origin` (the
  four directions) and `along: axis` (between) give RoboLab's rules, in which the box of a turned object grows.
- `z_margin` of the relations of height is -2 mm, and `object_next_to` needs a `min_overlap`; 0 for either gives
  RoboLab's verdicts.
- A light object needs less than `min_force` to touch or to rest (`weight_share`), and what carries a part of an object
  has it on top though its centre is elsewhere (`support_share`); 0 for either gives RoboLab's verdicts.
- `object_grabbed` needs every finger to press inwards; one that merely touches does not hold.
- `object_in_contact` heeds `logical`. Forces count by their size, not by their greatest component.
- Directions have `level_tolerance`, whether or not contact or release is asked for.
- `objects_in_line` and `stacked` need two objects; nothing is TRUE of an empty list. A block inside another is
  not stacked.
- `objects_placed_in_container_in_order` compares times, and every watched condition has a memory of its own.
- `object_at`, `object_on_top` and `object_between` heed all their arguments. A joint that is not measured is
  UNKNOWN.
"""


def text() -> str:
    """Return the whole page in Markdown."""
    common = {field.name for field in dataclasses.fields(Relation)} - {"object"}
    kinds: tuple[type[Predicate], ...] = BUILTIN
    rows = [_row(kind, common) for kind in sorted(kinds, key=lambda kind: kind.name)]
    head = "| predicate | arguments | margin | TRUE when |\n|---|---|---|---|\n"
    return HEAD + head + "\n".join(rows) + "\n" + COMMON


def _row(kind: type[Predicate], common: set[str]) -> str:
    hidden = common if issubclass(kind, Relation) else set()
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]  # all are dataclasses
    arguments = [_argument(item) for item in fields if item.name not in hidden]
    shared = [
        base for base in kind.__mro__[1:] if base.__module__ == kind.__module__ and "name" not in vars(base)
    ]
    texts = [inspect.getdoc(kind) or "", *((base.__doc__ or "").partition("\n\n")[2] for base in shared)]
    meaning = " ".join(" ".join(texts).replace("``", "`").split())
    unit = typing.cast("str", getattr(kind, "unit", ""))
    return f"| `{kind.name}` | {', '.join(arguments)} | {unit} | {meaning} |"


def _argument(item: dataclasses.Field[object]) -> str:
    if item.default is dataclasses.MISSING:
        return f"`{item.name}`"
    return f"`{item.name}` {_shown(item.default)}"


def _shown(value: object) -> str:
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return {"True": "true", "False": "false", "None": "none", "": '""'}.get(str(value), str(value))


if __name__ == "__main__":
    sys.stdout.write(text())
