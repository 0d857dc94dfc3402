"""A judge of one's own: boxes around the origins of things, and no forces.

``handiwork score-judge --judge examples/box_judge.py:judge`` compares it with a person and with the conditions.
"""

from __future__ import annotations

import ast

from handiwork import Question, Situation

MARGIN_M = 0.1
"""Half the width of the box around a container, and the height over another thing that still counts, m."""


def judge(situation: Situation, question: Question) -> bool | None:
    """Answer the questions whether a thing is in or on another one; None, which means UNKNOWN, for all others.

    Args:
        situation: ``situation.world`` has shapes, poses, velocities, contacts and joints.
        question: ``question.expression`` is its text; the label is there too, so do not look at it.
    """
    call = ast.parse(question.expression, mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    names = {
        item.arg: item.value.id for item in call.keywords if item.arg and isinstance(item.value, ast.Name)
    }
    reference = {"object_in_container": "container", "object_on_top": "reference_object"}.get(call.func.id)
    if reference is None or "object" not in names:
        return None
    states = situation.world.states
    if names["object"] not in states or names[reference] not in states:
        return None  # it is hidden
    of = states[names["object"]].world_T_object.translation_m
    x, y, z = of - states[names[reference]].world_T_object.translation_m
    return bool(abs(x) < MARGIN_M and abs(y) < MARGIN_M and 0.0 < z < MARGIN_M)
