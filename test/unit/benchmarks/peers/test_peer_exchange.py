"""Problems for peers and their answers survive the files, and the answers are judged."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from benchmarks.mbm.problems import load_problems
from benchmarks.peers import run
from benchmarks.peers.job import read_job
from benchmarks.peers.setup import PEERS

FAKE = """
import json, sys
job = json.loads(open(sys.argv[3]).read())
rows = [
    {"id": t["id"], "plan_s": 0.5, "simplified_s": 0.6, "path": [t["start"], t["goals"][0]], "full_s": 0.7,
     "motion": {"t": [0.0, 1.0], "q": [t["start"], t["goals"][0]], "qd": [[0.0] * 7] * 2, "qdd": [[0.0] * 7] * 2},
     "why": ""}
    for t in job["tasks"]
]
rows[1] = {**rows[1], "path": None, "motion": None, "why": "gave up"}
rows[2] = {**rows[2], "plan_s": 9.0}
open(sys.argv[4], "w").write(json.dumps(rows))
"""


@pytest.fixture
def fake_peer(tmp_path, monkeypatch):
    """Return a peer whose process answers with straight lines."""
    script, python = tmp_path / "peer.py", tmp_path / "python"
    script.write_text(FAKE)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {script} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(run, "python_of", lambda _name: python)


def test_answers_are_judged_by_the_referee(fake_peer, panda):
    problems = load_problems("panda", ["cage"], per_scene=3)
    straight, none, late = run.run_peer("mplib", panda, problems, clock="cpu", limit_s=5.0)
    assert straight.path is not None
    assert straight.path.ends
    assert not straight.path.clean  # a straight line through a cage
    assert straight.motion is not None
    assert not straight.motion.in_rates
    assert (straight.plan_s, straight.simplified_s, straight.full_s) == (0.5, 0.6, 0.7)
    assert (none.path, none.why) == (None, "gave up")
    assert (late.path, late.motion, late.why) == (None, None, "over the limit")


def test_a_job_says_what_the_problem_says(panda, tmp_path):
    (problem,) = load_problems("panda", ["table_pick"], per_scene=1)
    run.write_job(run._job(panda, [problem], tmp_path, "wall", 2.0), tmp_path / "job.json")
    job = read_job(tmp_path / "job.json")
    (task,) = job.tasks
    assert (job.clock, job.limit_s, job.joints) == ("wall", 2.0, list(panda.robot.arm("").joint_names))
    np.testing.assert_array_equal(task.start, problem.start)
    assert len(task.bodies) == len(problem.world.objects)
    for body, name in zip(task.bodies, problem.world.objects, strict=True):
        np.testing.assert_allclose(body.pose, problem.world.states[name].world_T_object.matrix())
    links = {s.link for s in panda.robot.spheres}
    assert len(job.pairs) + len(panda.robot.ignored_pairs) == len(links) * (len(links) - 1) // 2
    assert json.loads((tmp_path / "job.json").read_text())["urdf"].endswith("robot.urdf")


def test_an_absent_peer_is_named(panda, monkeypatch, tmp_path):
    monkeypatch.setattr(run, "python_of", lambda _name: tmp_path / "none")
    for name, peer in PEERS.items():
        with pytest.raises(run.Absent, match=peer.title):
            run.run_peer(name, panda, [], clock="cpu", limit_s=1.0)


def test_a_peer_that_fails_is_named_with_its_words(panda, monkeypatch, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no such library >&2\nexit 3\n")
    python.chmod(0o755)
    monkeypatch.setattr(run, "python_of", lambda _name: python)
    with pytest.raises(run.Absent, match=r"ended with 3: no such library"):
        run.run_peer("ompl", panda, [], clock="cpu", limit_s=1.0)
