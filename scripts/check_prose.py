"""Checks the words of docstrings, comments, errors and pages, and the share of documented public arguments.

Run by ``make lint``. ``check_prose.py PATH...`` checks only what lies below these paths. The rules:

* none of ``BANNED``;
* a docstring of a function or a constant does not begin with one of ``WEAK_STARTS``;
* public functions that take arguments have an ``Args:`` section, or override a method of ours that has one.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXTS = (
    "src/**/*.py", "src/**/*.pyi", "src/**/*.msg", "src/**/*.srv", "src/**/*.action", "src/**/*.yaml",
    "test/**/*.py", "benchmarks/**/*.py", "scripts/*.py", "config/**/*.yaml", "launch/*", "docs/**/*.md", "*.md",
    "cmake/**/*.cmake", "cmake/**/*.txt", "Makefile",
)  # fmt: skip
PUBLIC = "src/*/*/**/*.py"
LEAST_SHARE = 1.0
"""Of the public functions with arguments that have an ``Args:`` section."""

BANNED = {
    r"anew": "again",
    r"in vain": "without success",
    r"mend(s|ed|ing)?": "correct, repair, remedy",
    r"told": "said, sent, given, reported",
    r"heard": "received, observed",
    r"doors?": "entry point, interface (a real door is allowed in the files of ALLOWED)",
    r"voices?": "publisher, interface",
    r"desks?": "pipeline (a real desk is a table)",
    r"whoever": "the client that, anyone who",
    r"what stands": "what is there",
    r"who (hears|looks|asks|waits|speaks|watches)": "the client that ...",
    r"(for|of|to|by|from) who": "for the client that ...",
}
"""Pattern of whole words -> what to write instead."""

ALLOWED = {
    r"doors?": r"articulat|door|CHANGELOG|README|RunSkill|/(open|close|joints)\.py|(conditions|skills)\.md|^test/",
}
"""Pattern -> paths where the word has its plain meaning."""

WEAK_STARTS = frozenset({
    "What", "Who", "Whose", "Whether", "Which", "How", "Where", "Why", "When", "Of", "As", "From", "By", "For",
    "In", "With", "To", "On", "At", "Those", "Than",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """One place that breaks a rule."""

    path: Path
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.why}"


def banned_words(path: Path, text: str) -> Iterator[Fault]:
    """Find words of ``BANNED``.

    Args:
        path: The file, relative to the repository.
        text: Its content.

    Yields:
        One fault for each word that is found.
    """
    rules = {
        re.compile(rf"\b{pattern}\b", re.IGNORECASE): instead
        for pattern, instead in BANNED.items()
        if pattern not in ALLOWED or not re.search(ALLOWED[pattern], path.as_posix())
    }
    for number, line in enumerate(text.splitlines(), 1):
        for rule, instead in rules.items():
            for match in rule.finditer(line):
                yield Fault(path, number, f"{match.group()!r}: write {instead}")


def weak_docstrings(path: Path, tree: ast.Module) -> Iterator[Fault]:
    """Find docstrings of functions and constants that begin with one of ``WEAK_STARTS``.

    Args:
        path: The file, relative to the repository.
        tree: Its syntax.

    Yields:
        One fault for each of these docstrings.
    """
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for index, child in enumerate(body):
            if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
                continue
            is_constant = index > 0 and isinstance(body[index - 1], ast.Assign | ast.AnnAssign)
            words = child.value.value.split() if isinstance(child.value.value, str) else []
            if words and words[0] in WEAK_STARTS and (is_constant or (is_function and index == 0)):
                yield Fault(
                    path,
                    child.lineno,
                    f"begins with {words[0]!r}: write a sentence (`Return ...`, `The ...`)",
                )


@dataclass(frozen=True, slots=True)
class Function:
    """One public function or method that takes arguments."""

    path: Path
    line: int
    owner: str
    name: str
    has_args: bool


class _Survey(ast.NodeVisitor):
    """Collects the public functions of a file, and the bases of its classes."""

    def __init__(self, path: Path) -> None:
        self.path, self.owner = path, ""
        self.functions: list[Function] = []
        self.bases: dict[str, set[str]] = {}

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        names = {ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases}
        self.bases.setdefault(node.name, set()).update(names)
        if node.name.startswith("_"):
            return
        outer, self.owner = self.owner, node.name
        self.generic_visit(node)
        self.owner = outer

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        has_some = any(arg.arg not in ("self", "cls") and not arg.arg.startswith("_") for arg in given)
        is_overload = any("overload" in ast.unparse(item) for item in node.decorator_list)
        if has_some and not node.name.startswith("_") and not is_overload:
            has_args = "Args:" in (ast.get_docstring(node) or "")
            self.functions.append(Function(self.path, node.lineno, self.owner, node.name, has_args))

    visit_AsyncFunctionDef = visit_FunctionDef


def public_functions(files: dict[Path, ast.Module]) -> list[Function]:
    """List public functions with arguments. An override takes the ``Args:`` of the method that it overrides.

    Args:
        files: The syntax of each file.

    Returns:
        The functions of all files.
    """
    functions: list[Function] = []
    bases: dict[str, set[str]] = {}
    for path, tree in files.items():
        survey = _Survey(path)
        survey.visit(tree)
        functions += survey.functions
        for name, of in survey.bases.items():
            bases.setdefault(name, set()).update(of)
    documented = {(f.owner, f.name) for f in functions if f.has_args and f.owner}

    def inherits(owner: str, name: str, seen: frozenset[str] = frozenset()) -> bool:
        above = bases.get(owner, set()) - seen
        return any((base, name) in documented or inherits(base, name, seen | above) for base in above)

    return [
        Function(f.path, f.line, f.owner, f.name, f.has_args or inherits(f.owner, f.name)) for f in functions
    ]


def main(arguments: list[str]) -> int:
    """Print the faults and the share.

    Args:
        arguments: Paths to check; without any, everything.

    Returns:
        0 when no rule is broken.
    """
    chosen = tuple((ROOT / item).resolve() for item in arguments) or (ROOT,)

    def is_chosen(path: Path) -> bool:
        return any(path.is_relative_to(item) for item in chosen)

    texts = sorted(
        {p for pattern in TEXTS for p in ROOT.glob(pattern) if p.is_file() and p != Path(__file__)}
    )
    faults: list[Fault] = []
    public: dict[Path, ast.Module] = {}
    for path in texts:
        name, text = path.relative_to(ROOT), path.read_text(encoding="utf-8")
        if is_chosen(path):
            faults += banned_words(name, text)
        if path.match("*.py") and name.parts[0] == "src":
            tree = public[name] = ast.parse(text)
            faults += weak_docstrings(name, tree) if is_chosen(path) else ()
    listed = {path: tree for path, tree in public.items() if path.match(PUBLIC) or len(path.parts) > 3}
    functions = [f for f in public_functions(listed) if is_chosen(ROOT / f.path)]
    bare = [f for f in functions if not f.has_args]
    share = 1.0 - len(bare) / max(len(functions), 1)
    if share < LEAST_SHARE:
        faults += [Fault(f.path, f.line, f"{f.name}() has no Args: section") for f in bare]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{share:.1%} of {len(functions)} public functions with arguments document them")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
