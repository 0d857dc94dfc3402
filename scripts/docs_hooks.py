"""Pages that the documentation site takes from the rest of the repository: packages, project pages, results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = "<!-- packages -->"
"""The line that the package map replaces."""
PAGES = {
    "project": [
        ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
    ],
    "results": sorted((ROOT / "benchmarks" / "results").glob("*.md")),
}
"""Pages that are outside docs/, by their folder on the site."""
PICTURES = ROOT / "test" / "data" / "situations" / "pictures"
"""Pictures of the labelled situations; they are part of the tests' data."""


def manifests() -> Iterator[ElementTree.Element]:
    """Yield package.xml of each package of src/."""
    for path in sorted((ROOT / "src").glob("*/package.xml")):
        yield ElementTree.parse(path).getroot()


def package_map() -> str:
    """Return a graph of the packages, by package.xml, and a table of their contents."""
    described = {str(m.findtext("name")): m for m in manifests()}
    uses = {name: {str(d.text) for d in m.iter("depend")} & set(described) for name, m in described.items()}
    graph = ["```mermaid", "graph TD"]
    for name, used in uses.items():
        indirect = {deep for direct in used for deep in closure(direct, uses)}
        graph += [f"  {name} --> {other}" for other in sorted(used - indirect)]
    rows = [f"| `{name}` | {m.findtext('description')} |" for name, m in described.items()]
    return "\n".join([*graph, "```", "", "| package | what it holds |", "|---|---|", *rows])


def closure(name: str, uses: dict[str, set[str]]) -> set[str]:
    """Return all packages that one depends on, directly or not.

    Args:
        name: Name of the package.
        uses: Direct dependencies of each package.
    """
    return uses[name] | {deep for direct in uses[name] for deep in closure(direct, uses)}


@event_priority(100)  # before mkdocstrings reads its own options
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the sources of all packages to the paths of the API pages.

    Args:
        config: The site's configuration; changed.
    """
    folders = sorted(path.parent for path in (ROOT / "src").glob("*/setup.py"))
    python = config.plugins["mkdocstrings"].config.handlers["python"]
    python["paths"] = [str(folder) for folder in folders]
    python["options"]["preload_modules"] = [folder.name for folder in folders]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are outside docs/; a page of results need not be in the navigation.

    Args:
        files: The site's files; changed.
        config: The site's configuration.
    """
    for folder, paths in PAGES.items():
        for path in paths:
            text = path.read_text(encoding="utf-8")
            page = File.generated(config, f"{folder}/{path.name}", content=relocated(text))
            if folder == "results":
                page.inclusion = page.inclusion.NOT_IN_NAV
            files.append(page)
    for path in sorted(PICTURES.glob("*.webp")):
        files.append(File.generated(config, f"situations/{path.name}", abs_src_path=str(path)))
    return files


def relocated(text: str) -> str:
    """Return a page with links to docs/ that are valid in the page's folder of the site.

    Args:
        text: The page in Markdown.
    """
    return re.sub(r"\]\((?:\.\./)*docs/", "](../", text)


def on_page_markdown(markdown: str, **_unused: object) -> str:
    """Turn links to results and to pictures of situations into links within the site, and insert the package map.

    Args:
        markdown: The page.
        _unused: Other arguments of mkdocs.
    """
    markdown = re.sub(r"\]\((?:\.\./)+benchmarks/results/", "](../results/", markdown)
    markdown = markdown.replace("](../../test/data/situations/pictures/", "](")
    return markdown.replace(PACKAGES, package_map()) if PACKAGES in markdown else markdown
