"""All packages state one version, and a tag that differs from it is refused with each place."""

from __future__ import annotations

import subprocess
import sys

from support.paths import ROOT


def checked(tag: str) -> subprocess.CompletedProcess[str]:
    """Run the script.

    Args:
        tag: The tag of the release.
    """
    command = [sys.executable, str(ROOT / "scripts" / "check_version.py"), tag]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_all_packages_state_the_version_of_the_changelog() -> None:
    run = checked("v0.1.0")
    assert run.returncode == 0, run.stderr


def test_another_tag_is_refused_with_every_place() -> None:
    run = checked("v0.9.0")
    assert run.returncode == 1
    for place in ("src/handiwork/package.xml", "src/handiwork/setup.py", "CITATION.cff", "CHANGELOG.md"):
        assert f"{place}: " in run.stderr
