"""Tokens: the first reason wins; children follow their parent; a parent never follows its children."""

from __future__ import annotations

import pytest

from handiwork_core.contracts.skill import Stopped, Token
from handiwork_core.model.outcome import Code


def test_a_child_is_set_with_its_parent_and_for_its_reason() -> None:
    parent = Token()
    early = parent.child()
    parent.set(Code.PREEMPTED)
    late = parent.child()
    for child in (early, late, early.child()):
        assert child.is_set()
        assert child.reason is Code.PREEMPTED
        with pytest.raises(Stopped):
            child.check()


def test_a_child_that_is_set_alone_keeps_its_reason() -> None:
    parent = Token()
    child, other = parent.child(), parent.child()
    child.set(Code.CANCELED)
    assert not parent.is_set()
    assert not other.is_set()
    parent.set(Code.SHUTDOWN)
    assert (child.reason, other.reason) == (Code.CANCELED, Code.SHUTDOWN)
