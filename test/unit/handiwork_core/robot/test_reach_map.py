"""The map of what an arm reaches: questions, and its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot.reach_map import ReachMap, ReachSource, load_reach_map

DOWN, AHEAD = (0.0, 0.0, -1.0), (1.0, 0.0, 0.0)


@pytest.fixture
def made() -> ReachMap:
    """Two cells along x; the first is reached from above by both angles, from behind by one."""
    reached = np.zeros((2, 1, 1, 2), dtype=np.uint8)
    reached[0, 0, 0] = (2, 1)
    return ReachMap(
        ReachSource("fr3", "fr3_arm", "fr3_link0", "", 2, 0),
        np.eye(4),
        np.array([0.4, 0.0, 0.3]),
        0.1,
        np.array([DOWN, AHEAD]),
        reached,
        np.array([[[0.05]], [[np.nan]]], dtype=np.float32),
    )


def test_the_share_counts_orientations_of_the_nearest_cell(made: ReachMap) -> None:
    points = [(0.4, 0.0, 0.3), (0.449, -0.049, 0.349), (0.5, 0.0, 0.3), (0.6, 0.0, 0.3), (0.4, 0.0, 0.0)]
    assert made.share(points).tolist() == [0.75, 0.75, 0.0, 0.0, 0.0]


def test_an_approach_asks_for_the_nearest_direction_alone(made: ReachMap) -> None:
    assert made.share([(0.4, 0.0, 0.3)], approach=(0.1, 0.0, -2.0)) == [1.0]
    assert made.share([(0.4, 0.0, 0.3)], approach=AHEAD) == [0.5]


@pytest.mark.parametrize("approach", [(0.0, 0.0, 0.0), (np.nan, 0.0, 1.0), (1.0, 0.0)])
def test_a_bad_approach_is_named(made: ReachMap, approach: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="approach is"):
        made.share([(0.4, 0.0, 0.3)], approach=approach)


@pytest.mark.parametrize("points", [[(np.nan, 0.0, 0.0)], [(0.0, 0.0)], np.zeros((2, 2, 3))])
def test_bad_points_are_named(made: ReachMap, points: object) -> None:
    with pytest.raises(ValueError, match="points have the shape"):
        made.share(points)  # type: ignore[arg-type]


def test_manipulability_is_nan_where_the_arm_does_not_reach(made: ReachMap) -> None:
    values = made.manipulability_at([(0.4, 0.0, 0.3), (0.5, 0.0, 0.3), (9.0, 0.0, 0.3)])
    assert values[0] == pytest.approx(0.05)
    assert np.isnan(values[1:]).all()


def test_the_file_gives_the_same_map(made: ReachMap, tmp_path: Path) -> None:
    made.save(tmp_path / "deep" / "map.npz")
    read = load_reach_map(tmp_path / "deep" / "map.npz")
    assert read.source == made.source
    assert read.cell_m == made.cell_m
    for name in ("frame_T_base", "origin_m", "approaches", "reached", "manipulability"):
        assert np.array_equal(getattr(read, name), getattr(made, name), equal_nan=name == "manipulability")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["map.npz"]


def test_a_map_that_cannot_be_written_leaves_nothing(
    made: ReachMap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object, **_arrays: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(OSError, match="No space left"):
        made.save(tmp_path / "map.npz")
    assert not list(tmp_path.iterdir())


def test_a_file_of_something_else_is_named(made: ReachMap, tmp_path: Path) -> None:
    path = tmp_path / "map.npz"
    for write in (
        lambda: path.write_text("no archive"),
        lambda: path.write_bytes(b""),
        lambda: np.savez(path, reached=np.zeros(3)),
        lambda: (made.save(path), path.write_bytes(path.read_bytes()[:-200])),
    ):
        write()
        with pytest.raises(ConfigError, match="is no map of `handiwork reach`"):
            load_reach_map(path)
    with pytest.raises(ConfigError, match="is no map"):
        load_reach_map(tmp_path / "missing.npz")


def test_parts_that_do_not_fit_are_refused(made: ReachMap, tmp_path: Path) -> None:
    path = tmp_path / "map.npz"
    made.save(path)
    with np.load(path) as archive:
        parts = dict(archive)
    np.savez(path, **{**parts, "approaches": np.zeros((5, 3))})
    with pytest.raises(ConfigError, match="do not fit each other"):
        load_reach_map(path)
    np.savez(path, **{**parts, "about": np.array('{"format": 99}')})
    with pytest.raises(ConfigError, match="has format 99"):
        load_reach_map(path)
    np.savez(path, **{**parts, "about": np.array('{"format": 1, "cell_m": 0.1, "robot": "fr3"}')})
    with pytest.raises(ConfigError, match="has other keys"):
        load_reach_map(path)
