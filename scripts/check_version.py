"""Compare a release's tag with the version of every package: ``check_version.py v0.1.0``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = {
    "src/*/package.xml": r"<version>(.+?)</version>",
    "src/*/setup.py": r'(?i)version ?= ?"(.+?)"',
    "src/**/pyproject.toml": r'(?m)^version = "(.+?)"',
    "CITATION.cff": r"(?m)^version: (.+)$",
}
"""Files that state a version, and the pattern of it.

Interfaces of others are found too: they are published with ours.
"""


def versions() -> dict[Path, str]:
    """Return the version that each file states; empty if it states none."""
    found = {}
    for pattern, words in PLACES.items():
        for path in sorted(ROOT.glob(pattern)):
            match = re.search(words, path.read_text(encoding="utf-8"))
            found[path] = match.group(1) if match else ""
    return found


def main() -> int:
    """Return zero exactly when all versions are that of the tag, and the changelog has a section for it."""
    wanted = sys.argv[1].removeprefix("v")
    wrong = {path: version for path, version in versions().items() if version != wanted}
    for path, version in wrong.items():
        print(f"{path.relative_to(ROOT)}: is {version!r}, and the tag says {wanted!r}", file=sys.stderr)
    has_section = f"## [{wanted}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not has_section:
        print(f"CHANGELOG.md: has no section {wanted!r}", file=sys.stderr)
    return 1 if wrong or not has_section else 0


if __name__ == "__main__":
    sys.exit(main())
