"""Tables contain the content of the rows."""

from __future__ import annotations

import dataclasses

from benchmarks.mbm.referee import Ruling
from benchmarks.mbm.rows import NAN, Row, faults, percentiles, ratios, tables
from benchmarks.mbm.targets import targets

GOOD = Ruling(ends=True, limits=True, world_m=0.01, self_m=0.02, length_rad=4.0)
DEEP = dataclasses.replace(GOOD, world_m=-0.004)
FAST = Row("a/0", "a", 0.001, 0.002, 0.004, GOOD, GOOD, 1.5)
LATE = Row("b/0", "b", 2.0, 3.0, NAN, DEEP, None)
NONE = Row("b/1", "b", 0.5, 0.5, NAN, None, None, why="PATH_BLOCKED: walls")


def cells(text: str, name: str) -> list[str]:
    """Return the cells of a row.

    Args:
        text: The table.
        name: First characters of the row.
    """
    return next(line for line in text.splitlines() if line.startswith(f"| {name}")).strip("| ").split(" | ")


def test_a_late_path_is_not_solved_and_a_deep_one_not_clean():
    text = tables([FAST, LATE, NONE], 1.0)
    assert cells(text, "a")[:5] == ["a", "1", "100.0", "100.0", "1"]
    assert cells(text, "b")[:5] == ["b", "2", "0.0", "0.0", "2e+03"]
    assert cells(text, "**all**")[2:4] == ["33.3", "50.0"]


def test_faults_name_what_went_wrong():
    found = "\n".join(faults([FAST, LATE, NONE]))
    assert "b/1: PATH_BLOCKED: walls" in found
    assert "b/0: path: world -4.0 mm" in found
    assert "a/0" not in found
    assert faults([NONE] * 5, most=2)[-1] == "- ... and 3 more"


def test_ratios_compare_what_was_found():
    slow = dataclasses.replace(FAST, plan_s=0.05, simplified_s=0.1, full_s=NAN, motion=None)
    line = ratios("peer", [slow, NONE], [FAST], 1.0)
    assert line == ["peer", "50.0", "50.0", "50.0", "50.0", "-", "-", "50.0", "100.0", "-"]


def test_percentiles_leave_out_what_is_not_a_number():
    assert percentiles([0.001, NAN, 0.003])[0] == "2"
    assert percentiles([NAN]) == ["-", "-", "-"]


def test_targets_say_which_are_met():
    peer = [dataclasses.replace(FAST, plan_s=0.07, simplified_s=0.09)]
    text = targets([FAST, LATE, NONE], {"roboplan": peer})
    lines = {row[0]: row[1:] for row in (line.strip("| ").split(" | ") for line in text.splitlines())}
    assert lines["solved within 1 s, %"] == [">= 99.7", "33.33", "no"]
    assert lines["path length p50, rad"] == ["<= 4.9", "4", "yes"]
    assert lines["full plan p50, ms"] == ["<= 5", "4", "yes"]
    assert lines["plan p50, times faster than roboplan"][1] == f"{70.0 / 1000.5:.4g}"
    alone = targets([FAST], {"roboplan": peer})
    assert "| plan p50, times faster than roboplan | >= 60 | 70 | yes |" in alone
    assert "| plan and simplify p50, times faster than roboplan | >= 50 | 45 | no |" in alone
