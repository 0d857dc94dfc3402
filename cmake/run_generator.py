"""Run one of rosidl's generators several times as fast: ``run_generator.py GENERATOR ARGUMENTS...``.

Each of the six generators of a package parses every interface again, and scans and compiles every template again for
every interface. Here a parsed interface is kept on disk for the next generator, and a template in memory for the next
interface. The generated files do not change.
"""

from __future__ import annotations

import hashlib
import pickle
import runpy
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import em
from rosidl_parser import parser
from rosidl_parser.definition import IdlFile, IdlLocator

TESTED_TEMPLATE_ENGINE = "4.2."


def keep_parsed_interfaces(folder: Path) -> None:
    """Let the parser read the interfaces that an earlier generator has parsed.

    Args:
        folder: Folder of the parsed interfaces, each named by the hash of its text.
    """
    folder.mkdir(parents=True, exist_ok=True)
    grammar = Path(parser.grammar_file).read_bytes()

    def parse_idl_file(locator: IdlLocator, png_file: str | None = None) -> IdlFile:
        """Return the parsed interface, as the replaced function of rosidl_parser does."""
        text = locator.get_absolute_path().read_bytes()
        key = hashlib.sha256(b"\0".join((sys.version.encode(), grammar, text))).hexdigest()
        kept = folder / f"{key}.pickle"
        try:
            return IdlFile(locator, pickle.loads(kept.read_bytes()))
        except FileNotFoundError:
            parsed = parse(locator, png_file)
        write_whole(kept, pickle.dumps(parsed.content))
        return parsed

    parse, parser.parse_idl_file = parser.parse_idl_file, parse_idl_file


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that another process sees all of it or nothing.

    Args:
        path: The file.
        content: Its content.
    """
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content)
    Path(file.name).replace(path)


def keep_scanned_templates() -> None:
    """Let the template engine scan each text once and compile each expression once.

    The engine has no setting for it, so its functions are replaced; another version of the engine is not changed.
    """
    if not em.__version__.startswith(TESTED_TEMPLATE_ENGINE):
        return

    @cache
    def compiled(text: str, mode: str) -> CodeType:
        return compile(text, "<template>", mode)

    def evaluate(text: str, *spaces: Any) -> object:
        return eval(compiled(text.lstrip(" \t"), "eval"), *spaces)

    def execute(text: str, *spaces: Any) -> None:
        exec(compiled(text, "exec"), *spaces)

    scanned: dict[str, list[Any]] = {}

    def expand(
        interpreter: Any,  # noqa: ANN401 - the engine has no types
        text: str,
        locals: dict[str, object] | None = None,
        dispatcher: object = None,
    ) -> None:
        if text not in scanned:
            scanned[text] = scan(interpreter, text)
        interpreter.runSeveral(scanned[text], locals)

    em.evalFunc, em.execFunc, em.Interpreter.string = evaluate, execute, expand


def scan(interpreter: Any, text: str) -> list[Any]:  # noqa: ANN401 - the engine has no types
    """Return the tokens of a template; if its last one is incomplete, a line end is added, as the engine does.

    Args:
        interpreter: The interpreter of the engine.
        text: The template.
    """
    scanner = em.Scanner(interpreter.config, interpreter.getContext(), interpreter.currents, text)
    tokens: list[Any] = []
    try:
        tokens.extend(scanner.all())
    except em.TransientParseError:
        scanner.feed(interpreter.config.prefix + "\n")
        tokens.extend(scanner.all())
    return tokens


def main() -> None:
    """Replace the slow functions, then run the generator as a script with its own arguments."""
    generator, *arguments = sys.argv[1:]
    settings = Path(arguments[arguments.index("--generator-arguments-file") + 1])
    keep_parsed_interfaces(settings.resolve().parent / "parsed_interfaces")
    keep_scanned_templates()
    sys.argv = [generator, *arguments]
    runpy.run_path(generator, run_name="__main__")


if __name__ == "__main__":
    main()
