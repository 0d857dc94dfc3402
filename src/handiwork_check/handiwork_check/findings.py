"""What a check of a backend found, and how it is told. Knows no ROS."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """Missing is what was not offered, or could not be looked at."""

    PASS = "pass"
    FAIL = "fail"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report: ``check`` is ``<group> <what>``; ``mend`` says what to do unless it passed.

    ``required``: a backend may lack the rest, as a real robot lacks contacts.
    """

    check: str
    verdict: Verdict
    text: str
    mend: str = ""
    required: bool = True

    @property
    def is_fault(self) -> bool:
        """Whether the backend breaks the contract here."""
        return self.verdict is Verdict.FAIL or (self.verdict is Verdict.MISSING and self.required)


def passed(check: str, text: str) -> Finding:
    """What is as the contract says."""
    return Finding(check, Verdict.PASS, text)


def failed(check: str, text: str, mend: str) -> Finding:
    """What is there and wrong."""
    return Finding(check, Verdict.FAIL, text, mend)


def missing(check: str, text: str, mend: str, *, required: bool) -> Finding:
    """What is not there."""
    return Finding(check, Verdict.MISSING, text, mend, required)


def is_good(findings: Sequence[Finding]) -> bool:
    """True when something was checked and nothing breaks the contract."""
    return bool(findings) and not any(finding.is_fault for finding in findings)


def report_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """The report for a person: a line for each finding, its mend below it, and the sum."""
    width = max((len(finding.check) for finding in findings), default=0)
    for finding in findings:
        optional = "" if finding.required else " (optional)"
        yield f"{finding.verdict.value:<8}{finding.check:<{width}}  {finding.text}{optional}"
        if finding.mend:
            yield f"{'':<8}{'':<{width}}  mend: {finding.mend}"
    counts = {verdict: sum(finding.verdict is verdict for finding in findings) for verdict in Verdict}
    faults = sum(finding.is_fault for finding in findings)
    summed = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items())
    yield f"{summed}: {'the contract holds' if is_good(findings) else f'{faults} to mend'}"


def report_json(robot: str, findings: Sequence[Finding]) -> str:
    """The report for a program."""
    rows = [
        {
            "check": finding.check,
            "verdict": finding.verdict.value,
            "required": finding.required,
            "text": finding.text,
            "mend": finding.mend,
        }
        for finding in findings
    ]
    return json.dumps({"robot": robot, "good": is_good(findings), "findings": rows}, indent=2)
