"""Files that goals name are below the data folders, and no answer reveals which files exist elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.contracts.skill_params import SkillParams, file_field
from handiwork_core.intake.regular_files import DataRoots
from handiwork_core.model.outcome import OK, Code, Outcome
from skill_server.grasping.pick_params import PickParams
from skill_server.params.located_files import judged_with_files, with_located_files
from skill_server.skills.pick_place.dexpick import DexPickParams

FOREIGN = ["/etc/passwd", "/etc/absent", "/proc/self/fd/1", "/dev/zero", "../outside.npy", "absent.npy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoFiles(SkillParams):
    """The parameters of a plug-in."""

    first: str = file_field()
    second: str = file_field()
    word: str = "/etc/passwd"


def test_foreign_files_are_refused_alike(tmp_path: Path) -> None:
    roots = DataRoots.of([tmp_path / "data"])
    (tmp_path / "data").mkdir()
    np.save(tmp_path / "outside.npy", np.zeros((1, 16)))
    said = set()
    for name in FOREIGN:
        params, faults = with_located_files(PickParams(object="cube", npy_name=name), roots)
        assert params.npy_name == ""
        assert [(one.code, one.field_name) for one in faults] == [(Code.BAD_GOAL, "npy_name")]
        said.add(faults[0].message.replace(repr(name), ""))
    assert len(said) == 1


def test_a_file_below_the_roots_gets_its_whole_path(tmp_path: Path) -> None:
    (tmp_path / "poses.yaml").write_text("pick_poses: []")
    roots = DataRoots.of([tmp_path])
    params, faults = with_located_files(DexPickParams(object="cube", pose_file="poses.yaml"), roots)
    assert (params.pose_file, faults) == (str(tmp_path / "poses.yaml"), ())


def test_every_fault_is_found_beside_the_others() -> None:
    seen = []

    def judge(params: TwoFiles) -> Outcome:
        seen.append(params)
        return Outcome(Code.BAD_NUMBER, "seed is bad", "check", "seed")

    _, verdict = judged_with_files(TwoFiles(first="/a", second="/b"), DataRoots(()), judge)
    assert [one.field_name for one in verdict.all] == ["first", "second", "seed"]
    assert seen[0].word == "/etc/passwd"
    assert judged_with_files(TwoFiles(), DataRoots(()), lambda _params: OK)[1].ok


@pytest.mark.parametrize("name", FOREIGN)
def test_local_users_may_name_any_file(name: str) -> None:
    params = PickParams(object="cube", npy_name=name)
    assert with_located_files(params, None) == (params, ())
