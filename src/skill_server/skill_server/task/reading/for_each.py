"""The loop ``for_each`` over objects that a condition selects, or that the file lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from handiwork_core.config.dataclass_loader import ConfigError, nearest, shown
from handiwork_core.intake.limits import LOOP_OBJECTS
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec
from skill_server.task.model import Block, Condition, ForEach

from .control_keys import mapping_of, read_condition
from .entries import Reading
from .variables import check_name

TRIED = 40
"""Movable objects with which the body of a loop is checked until one has no fault."""
ReadBlock = Callable[[object, str, str, ArmSpec | None, Reading], Block]


@dataclass(frozen=True, eq=False)
class _Body:
    """The unread parts of a loop, which are read for each object."""

    given: Mapping[str, Any]
    path: str
    label: str
    arm: ArmSpec | None
    variable: str
    reading: Reading
    read_block: ReadBlock

    def read(self, name: str, world: World | None) -> tuple[Condition | None, Block, tuple[str, ...]]:
        """Read condition and body for an object, with their faults."""
        own = self.reading.with_variable(self.variable, name, world=world)
        where = None
        if "object_where" in self.given:
            where = read_condition(self.given["object_where"], f"{self.path}.object_where", own)
            if where.within_s > 0.0:
                text = "is no part of a selection, which is made at once; wait with condition before the loop"
                own.fault(f"{self.path}.object_where.within_s", text)
        body = self.read_block(
            self.given["steps"], f"{self.path}.steps", f"{self.label}[{name}]", self.arm, own
        )
        with_name = tuple(f"{fault} (with ${self.variable} = {name})" for fault in own.faults)
        return where, body, with_name

    def where_of(self, name: str) -> Condition:
        """Return the condition for an object. It was checked, with another object, when the file was read."""
        site = replace(self.reading.site, conditions=None)
        own = replace(self.reading, site=site).with_variable(self.variable, name, world=None)
        return read_condition(self.given["object_where"], f"{self.path}.object_where", own)

    def bind(self, name: str) -> Block:
        """Return the body for an object, checked with the newest world."""
        site = self.reading.site
        own = replace(self, reading=replace(self.reading, items=count()))
        _, body, faults = own.read(name, site.world if site.newest is None else site.newest())
        if faults:
            raise ConfigError(self.path, faults)
        return body


def read_for_each(
    data: object, path: str, label: str, arm: ArmSpec | None, reading: Reading, read_block: ReadBlock
) -> ForEach | None:
    """Read a loop over objects.

    Args:
        data: Value of the key.
        path: Its place in the file.
        label: Label of the node.
        arm: Arm of the list in which it is; None in a list of steps.
        reading: Receives the faults.
        read_block: Reads the body.

    Returns:
        The node; None when it has faults that leave no body.
    """
    given = mapping_of(data, path, ("as", "steps"), ("object_where", "among", "max"), reading)
    if not given or not _check_variable(given, path, reading):
        return None
    among = _among(given["among"], f"{path}.among", reading) if "among" in given else ()
    if "among" not in given and "object_where" not in given:
        reading.fault(path, "selects nothing; add object_where, a condition, or among, a list of objects")
        return None
    limit = _limit(given, path, among, reading)
    body = _Body(given, path, label, arm, given["as"], reading, read_block)
    used_before = given["as"] in reading.scope.used
    reading.scope.used.discard(given["as"])
    where, block = _checked(body, among, reading)
    if given["as"] not in reading.scope.used:
        reading.fault(f"{path}.as", f"${given['as']} is used nowhere; write it where the object is meant")
    if not used_before:
        reading.scope.used.discard(given["as"])
    return ForEach(path, given["as"], block, limit, among, where, body.where_of, body.bind)


def _check_variable(given: Mapping[str, Any], path: str, reading: Reading) -> bool:
    name = given["as"]
    if not check_name(name, f"{path}.as", reading.fault):
        return False
    if name in reading.scope.values:
        reading.fault(f"{path}.as", f"{name!r} is a variable already; choose another name")
    where = given.get("object_where")
    if where is not None and f"${name}" not in str(where) and f"${{{name}}}" not in str(where):
        text = f"does not contain ${name}, so it is the same for all objects; write ${name} for the object"
        reading.fault(f"{path}.object_where", text)
    return True


def _among(data: object, path: str, reading: Reading) -> tuple[str, ...]:
    names = reading.filled(data, path)
    are_names = isinstance(names, list) and all(isinstance(name, str) and name for name in names)
    if not are_names or not 1 <= len(names) <= LOOP_OBJECTS or len(set(names)) < len(names):
        reading.fault(path, f"is {shown(names)}; write 1 to {LOOP_OBJECTS} names of objects, each once")
        return ()
    world = reading.site.world
    for i, name in enumerate(names):
        if world is not None and name not in world.objects:
            reading.fault(
                f"{path}[{i}]", f"no object {name[:80]!r}; {nearest(name[:80], sorted(world.objects))}"
            )
    return tuple(names)


def _limit(given: Mapping[str, Any], path: str, among: tuple[str, ...], reading: Reading) -> int:
    most = len(among) or LOOP_OBJECTS
    if "max" not in given:
        if "among" not in given:
            reading.fault(f"{path}.max", "missing; add the greatest number of objects, or list them in among")
        return max(1, len(among))
    number = reading.filled(given["max"], f"{path}.max")
    if type(number) is not int or not 1 <= number <= most:
        reading.fault(f"{path}.max", f"is {shown(number)}; write a whole number from 1 to {most}")
        return 1
    if "object_where" not in given and number < len(among):
        reading.fault(
            f"{path}.max", f"is {number}, and among lists {len(among)}; shorten the list, or drop max"
        )
    return number


def _checked(body: _Body, among: tuple[str, ...], reading: Reading) -> tuple[Condition | None, Block]:
    """Return condition and body for one object; each listed object must be right, else one movable object."""
    world = reading.site.world
    names = [*among]
    if world is not None:
        names = [name for name in names if name in world.objects]
        if not among:
            names = sorted(name for name, one in world.objects.items() if not one.is_static)[:TRIED]
    if not names:
        names, world = [body.variable], None
    first: tuple[str, ...] = ()
    good = None
    for name in names:
        where, block, faults = body.read(name, world)
        first = first or faults
        good = (where, block) if good is None and not faults else good
        if bool(faults) == bool(among):
            break
    if good is None or (among and first):
        reading.faults += first
    return good or (where, block)
