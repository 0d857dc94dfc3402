"""Each fault of a URDF has its own text, and all faults are reported at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot.urdf import read_urdf
from handiwork_core.robot_files.loader import expand

MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
MESH = '<visual><geometry><mesh filename="d.stl"/></geometry></visual>'
LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'


def link(name: str, inside: str = MASS) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, parent: str, child: str, inside: str = LIMIT, kind: str = "revolute") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<axis xyz="0 0 1"/>{inside}</joint>'


def mimic(source: str) -> str:
    return f'{LIMIT}<mimic joint="{source}"/>'


SOUND = link("a") + link("b") + link("c") + joint("ab", "a", "b") + joint("bc", "b", "c")


def faults_of(inside: str) -> list[str]:
    try:
        read_urdf(f'<robot name="r">{inside}</robot>', Path("/nowhere/r.urdf"), needs_inertia=True)
    except ConfigError as error:
        return list(error.faults)
    return []


def test_a_sound_one_has_none() -> None:
    assert faults_of(SOUND) == []


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ("", ["links: there are none", "describe"]),
        (SOUND + link("b"), ["link b: is described 2 times", "keep one"]),
        (SOUND + link("d") + joint("ab", "c", "d"), ["joint ab: is described 2 times", "keep one"]),
        (SOUND + link("d"), ["links: ['a', 'd'] have no parent", "one root"]),
        (SOUND + joint("ac", "a", "c"), ["link c: is the child of 2 joints, bc, ac", "a tree has one"]),
        (SOUND + joint("ca", "c", "a"), ["links: b > c > a > b form a cycle", "break it at one joint"]),
        (SOUND + joint("cx", "c", "x"), ["joint cx: child link 'x' does not exist", "['a', 'b', 'c']"]),
        (SOUND + link("") + joint("cd", "c", ""), ["links: 1 have no name", "give each one"]),
        (
            SOUND + link("d") + joint("cd", "c", "d", mimic("ac")),
            ["joint cd: mimics 'ac', which does not exist"],
        ),
        (
            SOUND
            + link("d")
            + joint("cd", "c", "d", mimic("bc"))
            + link("e")
            + joint("de", "d", "e", mimic("cd")),
            ["joint de: mimics 'cd', which is a mimic itself", "['ab', 'bc']"],
        ),
        (
            SOUND + link("d") + joint("cd", "c", "d", "", "fixed") + link("e") + joint("de", "d", "e", mimic("cd")),
            ["joint de: mimics 'cd', which is fixed", "['ab', 'bc']"],
        ),
        (
            SOUND + link("d") + joint("cd", "c", "d", mimic("cd")),
            ["joint cd: mimics 'cd', which is a mimic itself"],
        ),
        (
            SOUND.replace('xyz="0 0 1"', 'xyz="0 0 0"', 1),
            ["joint ab: axis is zero", "give it a direction"],
        ),
        (SOUND.replace('lower="-1"', 'lower="2"', 1), ["joint ab: lower limit 2.0 is above", "1.0", "swap"]),
        (SOUND.replace(LIMIT, "", 1), ["joint ab: has no limit", "add lower"]),
        (SOUND.replace('upper="1"', 'upper="wide"', 1), ["joint ab: upper is 'wide'", "finite number"]),
        (SOUND + link("d") + joint("cd", "c", "d", kind="continuous"), ["'continuous'", "revolute with limits"]),
        (SOUND.replace(link("c"), link("c", "")), ["link c: moves and has no mass", "<inertial>"]),
        (
            SOUND.replace(link("c"), link("c", '<inertial><mass value="2"/></inertial>')),
            ["link c: has a mass of 2.0 kg without inertia", "<inertia>"],
        ),
        (
            SOUND + link("d", MESH) + joint("cd", "c", "d", "", "fixed"),
            ["link d: mesh 'd.stl' is not there", "/nowhere"],
        ),
    ],
)  # fmt: skip
def test_a_fault_is_reported_alone_and_with_its_remedy(inside: str, words: list[str]) -> None:
    found = faults_of(inside)
    assert len(found) == 1, found
    assert all(word in found[0] for word in words), found


def test_mass_may_hang_on_a_link_that_is_fixed_to_the_moved_one() -> None:
    light = SOUND.replace(link("c"), link("c", ""))
    assert faults_of(light + link("d") + joint("cd", "c", "d", "", "fixed")) == []
    assert len(faults_of(light + link("d", "") + joint("cd", "c", "d", "", "fixed"))) == 1


def test_all_faults_are_reported_at_once() -> None:
    broken = SOUND.replace('xyz="0 0 1"', 'xyz="0 0 0"', 1).replace(link("b"), link("b", ""))
    broken += link("d") + joint("cd", "c", "d", mimic("nobody")) + link("loose")
    texts = faults_of(broken)
    for words in ("joint ab: axis is zero", "joint cd: mimics 'nobody'", "['a', 'loose']", "link b: moves"):
        assert sum(words in text for text in texts) == 1, texts
    assert len(texts) == 4


def test_two_cycles_are_two_faults() -> None:
    rings = SOUND + joint("ca", "c", "a") + link("x") + link("y") + link("z")
    rings += joint("xy", "x", "y") + joint("yx", "y", "x") + joint("yz", "y", "z")
    assert [text for text in faults_of(rings) if "cycle" in text] == faults_of(rings)
    assert len(faults_of(rings)) == 2


PACKED = '<visual><geometry><mesh filename="package://{}/d.stl"/></geometry></visual>'


def test_meshes_of_a_package_above_the_urdf_beside_it_or_installed_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    places = {"mine": "src/mine", "beside": "src/beside", "far": "install/share/far"}
    for place in ("src/mine/urdf", *places.values()):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
    path = tmp_path / "src/mine/urdf/r.urdf"
    for package, place in places.items():
        path.write_text(f'<robot name="r">{link("a", PACKED.format(package))}</robot>', encoding="utf-8")
        with pytest.raises(
            ConfigError, match=rf"link a: mesh 'package://{package}/d.stl' is not in .*{package}"
        ):
            read_urdf(expand(path), path)
        (tmp_path / place / "d.stl").touch()
        text = expand(path)
        assert f'filename="file://{tmp_path / place / "d.stl"}"' in text
        assert read_urdf(text, path).links == ("a",)


def test_a_package_that_is_nowhere_is_refused_by_name() -> None:
    (fault,) = faults_of(SOUND + link("d", PACKED.format("lost_arm")) + joint("cd", "c", "d", "", "fixed"))
    assert "link d: mesh 'package://lost_arm/d.stl' is not there" in fault
    assert "package 'lost_arm'; source its workspace" in fault
