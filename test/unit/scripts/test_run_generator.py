"""The faster run of rosidl's generators must write the same files as these, the first time and later."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import ROOT

RUNNER = ROOT / "cmake" / "run_generator.py"
NAME = "rosidl_typesupport_introspection_c"
INTERFACES = {
    "Pair": "double first; double second;",
    "Named": "@default(value=3) int32 number; sequence<string> names; sequence<demo::msg::Pair, 4> pairs;",
}


@pytest.fixture
def arguments(tmp_path: Path) -> dict[str, object]:
    """Return the arguments of the generator for two interfaces, without its output folder."""
    folder = tmp_path / "idl" / "msg"
    folder.mkdir(parents=True)
    for name, members in INTERFACES.items():
        text = f"module demo {{ module msg {{ struct {name} {{ {members} }}; }}; }};"
        (folder / f"{name}.idl").write_text(text, encoding="utf-8")
    return {
        "package_name": "demo",
        "template_dir": str(Path(sys.prefix) / "share" / NAME / "resource"),
        "idl_tuples": [f"{folder.parent}:msg/{name}.idl" for name in INTERFACES],
        "target_dependencies": [],
    }


def generate(arguments: dict[str, object], folder: Path, *before: str) -> dict[str, str]:
    """Run the generator and return the files that it wrote, by path.

    Args:
        arguments: Arguments of the generator.
        folder: Its output folder.
    """
    settings = folder.with_suffix(".json")
    settings.write_text(json.dumps({**arguments, "output_dir": str(folder)}), encoding="utf-8")
    generator = str(Path(sys.prefix) / "lib" / NAME / NAME)
    command = [sys.executable, *before, generator, "--generator-arguments-file", str(settings)]
    # The templates iterate over sets, so that the order of includes depends on the hashes of strings.
    subprocess.run(command, check=True, timeout=60.0, env={**os.environ, "PYTHONHASHSEED": "0"})
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in files}


def test_generated_files_do_not_change(arguments: dict[str, object], tmp_path: Path) -> None:
    expected = generate(arguments, tmp_path / "plain")
    assert len(expected) == 2 * len(INTERFACES)
    assert generate(arguments, tmp_path / "first", str(RUNNER)) == expected
    assert generate(arguments, tmp_path / "second", str(RUNNER)) == expected  # from the kept parses


def test_a_changed_interface_is_parsed_again(arguments: dict[str, object], tmp_path: Path) -> None:
    generate(arguments, tmp_path / "old", str(RUNNER))
    changed = tmp_path / "idl" / "msg" / "Pair.idl"
    changed.write_text(changed.read_text(encoding="utf-8").replace("second", "third"), encoding="utf-8")
    text = "".join(generate(arguments, tmp_path / "new", str(RUNNER)).values())
    assert '"third"' in text
    assert '"second"' not in text
