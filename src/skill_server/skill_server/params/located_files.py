"""Files that a goal names: each must lie below the server's data folders before a skill opens it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

from handiwork_core.contracts.skill_params import FILE
from handiwork_core.intake.regular_files import DataRoots, FileRefused
from handiwork_core.model.outcome import Code, Outcome

from . import checks
from .validation import apart_from

P = TypeVar("P")


def with_located_files(params: P, roots: DataRoots | None) -> tuple[P, tuple[Outcome, ...]]:
    """Return the parameters with whole paths in the fields that name files, and the faults of these fields.

    Args:
        params: Parameters of a skill.
        roots: Folders below which the files must lie; None: a local user may name any file.

    Returns:
        The parameters, in which a field with a fault is empty, and the faults; empty for none.
    """
    if roots is None:
        return params, ()
    found, faults = dict[str, str](), []
    for field in dataclasses.fields(params):  # type: ignore[arg-type]  # every params type is a dataclass
        name = getattr(params, field.name)
        if not field.metadata.get(FILE) or not name:
            continue
        try:
            found[field.name] = str(roots.locate(name))
        except FileRefused as error:
            found[field.name] = ""
            faults.append(checks.fault(Code.BAD_GOAL, field.name, str(error)))
    return (dataclasses.replace(params, **found) if found else params), tuple(faults)  # type: ignore[type-var]


def judged_with_files(params: P, roots: DataRoots | None, judge: Callable[[P], Outcome]) -> tuple[P, Outcome]:
    """Locate the files of the parameters, and judge the parameters.

    Args:
        params: Parameters of a skill.
        roots: Folders below which the files must lie; None: a local user may name any file.
        judge: Check of the parameters, with whole paths.

    Returns:
        The parameters with whole paths; and the faults of the files with those that ``judge`` finds in the other
        fields, OK for none.
    """
    located, faults = with_located_files(params, roots)
    verdict: Any = judge(located)
    bad = {fault.field_name for fault in faults}
    rest = apart_from(verdict, bad) if faults else verdict.all
    return located, checks.all_faults((*faults, *rest))
