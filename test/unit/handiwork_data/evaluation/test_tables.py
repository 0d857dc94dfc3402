"""Tables of results."""

from __future__ import annotations

from handiwork_data.evaluation.tables import markdown, tables
from support.records.evaluations import row


def cells(text: str, title: str) -> dict[str, list[str]]:
    """Return the rows of a table by their first cell, the head under its own."""
    part = text.split(f"{title}\n\n")[1].split("\n\n")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()]
    return {line[0]: line[1:] for line in lines}


def test_tasks_have_their_rate_interval_scores_and_times() -> None:
    rows = [row(0, success=True), row(1, success=True), row(2, success=False), row(3, success=False)]
    found = cells(tables({"tidy-fr3": rows}), "Tasks")
    assert found["tidy-fr3"] == (
        [
            "4",
            "2",
            "50.0",
            "15.0 to 85.0",
            "2",
            "0.75",
            "0.75",
            "4.00",
            "5.00",
            "6.00",
            "0.80",
            "0.10",
            "-2.00",
        ]
    )
    assert "all" not in found, "one task is all"


def test_several_tasks_have_a_sum_of_their_episodes() -> None:
    results = {"a": [row(0, success=True)], "b": [row(0, success=False), row(1, success=False)]}
    found = cells(tables(results), "Tasks")
    assert [found[name][:3] for name in ("a", "b", "all")] == [
        ["1", "1", "100.0"], ["2", "0", "0.0"], ["3", "1", "33.3"],
    ]  # fmt: skip


def test_subtasks_are_counted_when_they_were_reached_and_when_they_held_at_the_end() -> None:
    rows = [row(0, success=True), row(1, success=False), row(2, success=False, subtasks=())]
    part = tables({"a": rows}).split("Subtasks\n\n")[1].splitlines()
    assert [cell.strip() for cell in part[2].strip("|").split("|")] == [
        "a", "object_grabbed(object=cube)", "2 of 2", "100.0", "34.2 to 100.0", "1", "1.50",
    ]  # fmt: skip


def test_failures_are_told_apart_by_events_and_ends() -> None:
    rows = [
        row(0, success=False, events={"grasped": 1, "dropped": 2}),
        row(1, success=False, events={"bumped": 1}),
        row(2, success=False, events={}, end="guard_refused", success_at_peak=True),
        row(3, success=True, events={"bumped": 5}),
    ]
    found = cells(tables({"a": rows}), "Failures")
    assert found["a"] == ["3", "2", "0", "1", "1", "1", "time_over 2, guard_refused 1"]
    assert "Failures" not in tables({"a": [row(0, success=True)]})


def test_latency_is_that_of_all_answers() -> None:
    rows = [row(0, success=True, inference_ms=(1.0,) * 90), row(1, success=True, inference_ms=(100.0,) * 10)]
    found = cells(tables({"a": rows}), "Time")
    assert found["a"][:5] == ["100", "1.0", "100.0", "300", "2"]


def test_a_bar_in_a_text_does_not_end_its_cell() -> None:
    assert markdown(("a",), [["x|y\nz"]]).splitlines()[2] == "| x\\|y z |"
