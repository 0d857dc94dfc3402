"""The public names load, are those of the stub, need no ROS without reason, and suffice for every how-to."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
from importlib import import_module
from pathlib import Path

import pytest

import handiwork
from support.paths import ROOT

INSIDE = {path.parent.name for path in (ROOT / "src").glob("*/setup.py")} - {"handiwork"}
TEMPLATES = ROOT / "src" / "handiwork_cli" / "handiwork_cli" / "templates" / "skill"
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def imports(source: str) -> set[tuple[str, str]]:
    """Return module and name of each import.

    Args:
        source: Python code.
    """
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            found |= {(node.module or "", alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
    return found


def examples(page: Path) -> list[str]:
    """Return the Python blocks of a page.

    Args:
        page: The page.
    """
    blocks = re.findall(
        r"^( *)```python\n(.*?)^\1```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    return [textwrap.dedent(text) for _indent, text in blocks]


@pytest.mark.parametrize("name", handiwork.__all__)
def test_a_name_loads(name: str) -> None:
    assert getattr(handiwork, name) is vars(handiwork)[name]


def test_another_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'SkillKlient'"):
        handiwork.SkillKlient  # noqa: B018


def test_the_stub_has_the_same_names_from_the_same_homes() -> None:
    stub = Path(handiwork.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    assert imports(stub) == {(home, name) for name, home in handiwork._HOME_OF.items()}


@pytest.mark.processes
def test_names_without_nodes_load_where_there_is_no_ros() -> None:
    pure = [name for name, home in handiwork._HOME_OF.items() if not home.startswith("handiwork_ros")]
    check = (
        "import sys; sys.modules['rclpy'] = sys.modules['handiwork_msgs'] = None; import handiwork, handiwork.testing\n"
        "assert not [name for name in sys.modules if name.startswith('planner_node')]\n"
        f"for name in {pure!r}: getattr(handiwork, name)"
    )
    run = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=False, timeout=100
    )
    assert run.returncode == 0, run.stderr


def test_the_guides_have_examples_with_imports() -> None:
    found = {page.name for page in GUIDES for text in examples(page) if "from handiwork import" in text}
    assert {"README.md", "add-a-predicate.md", "plan-many-problems.md", "gpu.md", "run-tasks.md"} <= found


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_a_guide_imports_public_names_only(page: Path) -> None:
    for text in examples(page):
        assert_public(text)


@pytest.mark.parametrize("name", ["skill.py.txt", "test.py.txt"])
def test_a_new_skill_imports_public_names_only(name: str) -> None:
    assert_public(re.sub(r"\$\{?\w+\}?", "wave", (TEMPLATES / name).read_text(encoding="utf-8")))


def assert_public(source: str) -> None:
    """Fail when a module of another package is imported, or a name that does not exist.

    Args:
        source: Python code.
    """
    for module, name in sorted(imports(source)):
        assert module.split(".")[0] not in INSIDE, f"{module} is no public module"
        if module in {"handiwork", "handiwork.testing"}:
            assert name in import_module(module).__all__


def test_the_wheel_asks_for_every_other_package() -> None:
    lists = {}
    for node in ast.parse((ROOT / "src" / "handiwork" / "setup.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List):
            lists[ast.unparse(node.targets[0])] = ast.literal_eval(node.value)
    assert set(lists["PACKAGES"]) == INSIDE
    # Of make setup-moveit and make setup-nav2.
    opt_in = {
        "moveit_msgs",
        "moveit_task_constructor_msgs",
        "octomap_msgs",
        "object_recognition_msgs",
        "nav2_msgs",
    }
    interfaces = {path.parent.name for path in (ROOT / "src").glob("**/pyproject.toml")} - opt_in
    assert set(lists["INTERFACES"]) == {name.replace("_", "-") for name in interfaces}


def test_every_name_has_its_place_on_an_api_page() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "api").glob("*.md"))
    listed = re.findall(r"(?m)^::: handiwork\.(\w+)$", pages)
    without_members = {"Array", "Function", "Goal", "Report", "ShouldStop", "T"}  # aliases of types
    assert sorted(listed) == sorted(set(handiwork.__all__) - without_members)
