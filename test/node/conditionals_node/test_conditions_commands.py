"""``handiwork conditions`` and ``handiwork why`` against a running conditions node."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from handiwork_msgs.msg import Condition

from handiwork_core.model.outcome import Code
from handiwork_ros.clients.conditions_client import ConditionsClient
from support.commands import handiwork
from support.nodes.conditions_peer import Peer, playing

FILE = """
conditions:
- {name: in_bin, expression: "object_in_container(object=cube, container=bin)"}
- {name: object_stationary, args: {object: cube}}
- {name: object_stationary, args: {object: bin}}
task: {name: away, subtasks: [{name: out, groups: {cube: [{expression: not in_bin}]}}]}
"""


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    file: Path = tmp_path_factory.mktemp("conditions") / "conditions.yaml"
    file.write_text(FILE)
    with playing(file) as found:
        found.wait(lambda: found.value("in_bin") == Condition.TRUE)
        yield found


def test_watch_unwatch_and_watch_task_change_what_is_followed(peer: Peer, tmp_path: Path) -> None:
    code, out, err = handiwork("watch", "not in_bin or object_upright(object=cbue)", "--name", "free")
    assert (code, out) == (0, "free\n"), err
    assert "no object 'cbue' is in the world, did you mean 'cube'?" in err
    peer.wait(lambda: "free" in peer.latest)
    assert handiwork("watch", "in_bin", "--hold", "0.7")[0] == 1
    assert handiwork("unwatch", "free")[0] == 0
    peer.wait(lambda: "free" not in peer.latest)
    code, _, err = handiwork("unwatch", "free")
    assert code == 1 and "'free' is not watched" in err
    task = tmp_path / "task.yaml"
    task.write_text("task: {name: up, subtasks: [{name: a, groups: {g: [{expression: in_bin}]}}]}")
    code, out, err = handiwork("watch-task", str(task))
    assert code == 0 and out.startswith("task up: "), err
    peer.wait(lambda: peer.progress.name == "up" and peer.progress.done)
    code, out, _ = handiwork("watch-task")
    assert (code, out.splitlines()[0]) == (0, "task up: 0%, done")
    assert "all its conditions held at the start" in out
    task.write_text("name: away\nsubtasks: [{name: out, groups: {cube: [{expression: not in_bin}]}}]\n")
    assert handiwork("watch-task", str(task))[0] == 0
    assert handiwork("watch-task", str(tmp_path / "none.yaml"))[0] == 2


def test_the_table_and_the_progress_are_printed_once(peer: Peer) -> None:
    code, out, _ = handiwork("conditions", "--once")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split()[:5] == ["value", "rest", "since", "margin", "condition"]
    assert lines[1].startswith("TRUE") and "in_bin" in lines[1] and "\x1b" not in out
    assert "task away: 0%" in out
    assert "> not in_bin" in out


@pytest.mark.parametrize(
    ("condition", "code", "words"),
    [
        ("in_bin", 0, ["in_bin: TRUE", "margin   0.2 m\n", "depth", "cube"]),
        ("not in_bin", 1, ["not in_bin: FALSE"]),
        ("object_in_container(object=ghost, container=bin) and in_bin", 3, ["UNKNOWN", "'ghost'"]),
        ("in_bin and", 2, ["column"]),
        ("object_in_container", 0, ["object_in_container(object=cube, container=bin): TRUE", "depth"]),
        (
            "object_stationary",
            2,
            ['watched 2 times; ask for "object_stationary(object=cube)" or "object_stationary(object=bin)"'],
        ),
        ("object_upright", 2, ["object: missing"]),
        ("gripper_opened()", 2, ["did you mean 'gripper_open'"]),
        ("in_binn", 2, ["no condition or predicate 'in_binn'; did you mean 'in_bin'?"]),
        ("pick_and_place", 2, ["it is a composite", "write it in a subtask"]),
    ],
)
def test_why_tells_the_numbers_and_its_exit_code_the_value(
    peer: Peer, condition: str, code: int, words: list[str]
) -> None:
    found, out, err = handiwork("why", condition)
    assert found == code, err
    assert all(word in out + err for word in words), out + err


def test_a_program_asks_for_all_that_the_commands_do(peer: Peer) -> None:
    with ConditionsClient() as client:
        inside = client.evaluate("in_bin").condition
        assert inside is not None and inside.value == Condition.TRUE and inside.reason
        refused = client.evaluate("in_bni")
        assert (refused.ok, refused.condition) == (False, None)
        assert "did you mean 'in_bin'" in refused.outcome.message
        assert client.watch("not in_bin", name="out_of_it", hold_s=0.3).key == "out_of_it"
        peer.wait(lambda: "out_of_it" in peer.latest)
        assert not client.watch("not in_bin", name="out_of_it", hold_s=0.7).ok
        assert client.unwatch("out_of_it").ok
        peer.wait(lambda: "out_of_it" not in peer.latest)
        assert not client.unwatch("out_of_it").ok
        task = "{name: home, subtasks: [{name: a, groups: {g: [{expression: in_bin}]}}]}"
        begun = client.watch_task(task).progress
        assert begun is not None and begun.name == "home"
        again = client.watch_task(restart=True).progress
        assert again is not None and again.name == "home"
        assert client.watch_task("{name: home}").progress is None


def test_a_program_without_a_monitor_is_answered_in_time() -> None:
    with ConditionsClient(domain_id=99, timeout_s=0.5) as client:
        answer = client.evaluate("in_bin")
    assert answer.outcome.code is Code.UNRESPONSIVE
    assert "conditions/evaluate does not answer in 0.5 s" in answer.outcome.message
