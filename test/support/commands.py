"""Runs the commands of ``handiwork`` in this process: a start of Python and its imports take seconds for each."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from handiwork_cli.cli import main


def handiwork(*words: str) -> tuple[int, str, str]:
    """Run a command.

    Args:
        words: Its words, without the program.

    Returns:
        The exit code and both outputs.
    """
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.dict(os.environ, COLUMNS="120"), redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(list(words))
        except SystemExit as end:  # of argparse
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()
