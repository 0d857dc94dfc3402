"""Tasks, skills by name, including a user's own, and goals that queue or preempt, in the running stack."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml
from handiwork_msgs.action import Place, RunTask

from handiwork_cli.cli import main
from handiwork_core.model.outcome import Code
from handiwork_core.model.thresholds import JOINT_REST
from handiwork_ros.actions.task_report import EntryState
from handiwork_ros.clients.skill_goals import skill_goal
from skill_server.task.reading.robot_files import with_robot_files
from support.paths import DATA, ROOT
from support.stack.rig import SLOW, Rig, wait_for

ROBOT_FILES = DATA / "robots/simbox"
TASK = """
seed: 3
skills:
  - fr3:
      - left: [{name: pick, objects: [cube]}, {name: goto__pose, position: [0.45, 0.0, 0.4]}]
      - left: [{name: place, objects: [cube, bin]}, {name: home}]
"""


@pytest.fixture(scope="module", autouse=True)
def own_skill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Write a package of a user, as ``handiwork new-skill`` writes it, on the path of the stack that starts next."""
    folder = tmp_path_factory.mktemp("own")
    assert main(["new-skill", "wave_twice", "--into", str(folder)]) == 0
    package = folder / "skill_wave_twice"
    subprocess.run([sys.executable, "setup.py", "-q", "egg_info"], cwd=package, check=True, timeout=100.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(package), prepend=os.pathsep)
        yield


def test_a_skill_of_ones_own_runs_by_its_name_and_in_tasks(rig: Rig) -> None:
    report = rig.client.run("wave_twice", {"object": "cube", "height": 0.25})
    assert report.ok, report.outcome
    wrong = rig.client.run("wave_twice", {"object": "cube", "hight": 0.25})
    assert wrong.outcome.code is Code.BAD_GOAL and "hight" in wrong.message
    task = "skills: [{fr3: [{left: [{name: wave_twice, object: cube}, {name: home}]}]}]"
    ended = rig.client.run_task(task, source="wave.yaml")
    assert ended.ok, ended.outcome
    assert [e.state for e in ended.entries] == [EntryState.SUCCEEDED] * 2


def test_a_task_is_previewed_and_executed_from_the_command_line(
    rig: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tidy.yaml").write_text(TASK, encoding="utf-8")
    rig.joints.clear()
    assert main(["task", "run", str(tmp_path / "tidy.yaml"), "--plan-only"]) == 0
    shown = capsys.readouterr().out
    assert max(sample.speed for sample in rig.joints.samples) < JOINT_REST
    assert "1.1 pick: approach" in shown and "1.2 place: retreat" in shown
    (plan_id,) = re.findall(r"handiwork execute (task-\w+)", shown)
    assert main(["execute", plan_id, "--timeout", "240"]) == 0, capsys.readouterr().out
    inside, reason = rig.stack.settled("object_in_container", "{object: cube, container: bin}", 60.0)
    assert inside, reason


def test_a_task_with_a_condition_is_previewed_up_to_it(rig: Rig) -> None:
    task = (
        "skills: [{fr3: [{left: [{name: pick, object: cube}]}, "
        "{if: {condition: 'object_in_container(object=cube, container=bin)', then: [{left: [{name: home}]}]}}]}]"
    )
    report = rig.client.run_task(task, plan_only=True, timeout_s=120.0)
    assert report.plan is not None, report.outcome
    assert (report.resume_from, report.entries[0].skill) == ("1.2", "pick")
    assert "up to step 1.2: condition" in report.outcome.message


def test_the_command_line_picks_and_places_with_parameters(
    rig: Rig, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pick", "cube", "lift_th=9.0"]) == 1
    assert "lift_th" in capsys.readouterr().out
    assert main(["pick", "cube", "lift_th=0.05", "pre_grasp_offset=0.08", "--arm", "fr3_arm"]) == 0
    assert main(["place", "cube", "bin", "x_ratio_range=[0.4, 0.6]"]) == 0
    inside, reason = rig.stack.settled("object_in_container", "{object: cube, container: bin}", 60.0)
    assert inside, reason


def test_a_task_with_a_robot_file_runs_to_its_end_and_the_monitor_agrees(rig: Rig, tmp_path: Path) -> None:
    home = [0.3, -0.785, 0.0, -2.2, 0.0, 1.571, 0.785]
    fields = yaml.safe_load((ROBOT_FILES / "fr3.yaml").read_text(encoding="utf-8"))
    (tmp_path / "fr3.yaml").write_text(yaml.safe_dump(fields | {"left_joint_home": home}), encoding="utf-8")
    entry = (
        "robots: [{name: franka, robot_config_file: fr3.yaml, euler: [0, 0, 0], ignore_substring: [sign]}]"
    )
    text = with_robot_files(entry + TASK.replace("- fr3:", "- franka:"), tmp_path / "tidy.yaml")
    seen = []
    report = rig.client.run_task(text, source="tidy.yaml", on_feedback=seen.append)
    assert report.ok, report.outcome
    assert [e.state for e in report.entries] == [EntryState.SUCCEEDED] * 4
    assert len({e.report.seed for e in report.entries}) == 4
    assert all(e.report.stages for e in report.entries)
    assert list(dict.fromkeys(f.skill for f in seen)) == ["pick", "goto_pose", "place", "home"]
    assert np.allclose(rig.joints.next().positions[:7], home, atol=0.02)
    inside, reason = rig.stack.settled("object_in_container", "{object: cube, container: bin}", 60.0)
    assert inside, reason


def test_a_task_with_loop_alternatives_and_branch_clears_the_table(rig: Rig) -> None:
    text = (ROOT / "config/tasks/sort.yaml").read_text(encoding="utf-8")
    # The first alternative of the cube has no grasp: no filter can be met.
    text = text.replace("filter_z_dir: [downward, 20]", "filter_z_dir: [upward, 20]")
    seen = []
    report = rig.client.run_task(text, source="sort.yaml", on_feedback=seen.append, timeout_s=180.0)
    assert report.ok, report.outcome
    ran = [(e.step, e.skill, e.state) for e in report.entries if e.state is not EntryState.NOT_STARTED]
    assert ran == [
        *(
            one
            for name in ("can", "cube")
            for one in (
                (f"1.1[{name}].1.try1.1", "pick", EntryState.FAILED),
                (f"1.1[{name}].1.try2.1", "home", EntryState.SUCCEEDED),
                (f"1.1[{name}].1.try2.1", "pick", EntryState.SUCCEEDED),
                (f"1.1[{name}].2", "place", EntryState.SUCCEEDED),
            )
        ),
        ("1.2.then.1", "home", EntryState.SUCCEEDED),
    ]
    assert (seen[-1].step, seen[-1].skill, seen[-1].done, seen[-1].count) == ("1.2.then.1", "home", 6, 7)
    assert not seen[-1].count_is_bound and seen[0].count_is_bound
    for name in ("can", "cube"):
        inside, reason = rig.stack.settled("object_in_container", f"{{object: {name}, container: bin}}", 60.0)
        assert inside, reason


def test_a_task_with_a_wrong_condition_moves_nothing(rig: Rig) -> None:
    text = (ROOT / "config/tasks/sort.yaml").read_text(encoding="utf-8")
    wrong = text.replace("object_in_container(object=cube", "object_in_contaner(object=cub")
    report = rig.client.run_task(
        wrong.replace("reference_object=table", "reference_object=tabel"), source="x.yaml"
    )
    assert report.outcome.code is Code.BAD_GOAL
    loop, branch = report.faults
    assert loop.startswith("skills[0].fr3[0].for_each.object_where: no object 'tabel'; did you mean 'table'?")
    assert branch.startswith("skills[0].fr3[1].if.condition: ") and "object_in_container" in branch
    rig.joints.assert_rests()


def test_a_cancelled_task_rests_at_once_and_goes_on_where_it_was(rig: Rig) -> None:
    text = TASK.replace("objects: [cube]}", "objects: [cube], max_velocity_scaling_factor: 0.1}")
    run = rig.client.send_task(RunTask.Goal(task=text, source="slow.yaml"))
    rig.joints.wait_moving(0.05)
    run.cancel()
    report = run.result(60.0)
    assert report.outcome.code is Code.CANCELED, report.outcome
    assert report.resume_from == "1.1"
    rig.joints.assert_rests()
    again = rig.client.run_task(TASK, resume_from=report.resume_from)
    assert again.ok, again.outcome


def test_a_queued_goal_runs_after_the_one_before(rig: Rig) -> None:
    first = rig.send_until(skill_goal("pick", {"object": "cube"}), "select")
    second = rig.send_until(Place.Goal(container="bin", when_busy="queue"), "queued")
    rejected = rig.client.run("home")
    assert rejected.outcome.code is Code.BUSY, rejected.outcome
    assert "'pick'" in rejected.message
    assert first.result().ok
    placed = second.result()
    assert placed.ok, placed.outcome


def test_a_goal_that_preempts_ends_the_one_before(rig: Rig) -> None:
    first = rig.send_until(SLOW, "approach")
    rig.joints.wait_moving(0.05)
    home = rig.client.run("home", when_busy="preempt")
    assert first.result(60.0).outcome.code is Code.PREEMPTED
    assert home.ok, home.outcome
    wait_for("an arm at rest", lambda: first.done)
    rig.joints.assert_rests()
