"""Runs the commands of ``handiwork`` in this process: a start of Python and its imports take seconds for each."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout

from handiwork_cli.cli import main


def handiwork(*words: str) -> tuple[int, str, str]:
    """Run a command.

    Args:
        words: Its words, without the program.

    Returns:
        The exit code and both outputs.
    """
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(list(words))
    return code, out.getvalue(), err.getvalue()
