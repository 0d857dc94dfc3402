"""The findings of a check of a backend, and their report. Imports no ROS."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum


class CheckVerdict(Enum):
    """The result of one check; MISSING is for a part that was not offered, or could not be checked."""

    PASS = "pass"
    FAIL = "fail"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One line of the report.

    Attributes:
        check: Group and name of the check.
        verdict: Its result.
        text: The observation.
        remedy: The correction; empty if the check passed.
        required: Whether a missing part breaks the contract; a real robot, for example, may lack contacts.
    """

    check: str
    verdict: CheckVerdict
    text: str
    remedy: str = ""
    required: bool = True

    @property
    def is_fault(self) -> bool:
        """The backend breaks the contract here."""
        return self.verdict is CheckVerdict.FAIL or (self.verdict is CheckVerdict.MISSING and self.required)


def passed(check: str, text: str) -> CheckFinding:
    """Return a finding of a part that agrees with the contract.

    Args:
        check: Group and name of the check.
        text: The observation.
    """
    return CheckFinding(check, CheckVerdict.PASS, text)


def failed(check: str, text: str, remedy: str) -> CheckFinding:
    """Return a finding of a part that is there and wrong.

    Args:
        check: Group and name of the check.
        text: The observation.
        remedy: The correction.
    """
    return CheckFinding(check, CheckVerdict.FAIL, text, remedy)


def missing(check: str, text: str, remedy: str, *, required: bool) -> CheckFinding:
    """Return a finding of a part that is not there.

    Args:
        check: Group and name of the check.
        text: The observation.
        remedy: The correction.
        required: Whether the backend breaks the contract without it.
    """
    return CheckFinding(check, CheckVerdict.MISSING, text, remedy, required)


def is_good(findings: Sequence[CheckFinding]) -> bool:
    """Check that there is a finding and that none breaks the contract.

    Args:
        findings: All findings.
    """
    return bool(findings) and not any(finding.is_fault for finding in findings)


def report_lines(findings: Sequence[CheckFinding]) -> Iterator[str]:
    """Return the report for a person.

    Args:
        findings: All findings.

    Yields:
        A line for each finding, its remedy below it, and the sum.
    """
    width = max((len(finding.check) for finding in findings), default=0)
    for finding in findings:
        optional = "" if finding.required else " (optional)"
        yield f"{finding.verdict.value:<8}{finding.check:<{width}}  {finding.text}{optional}"
        if finding.remedy:
            yield f"{'':<8}{'':<{width}}  remedy: {finding.remedy}"
    counts = {verdict: sum(finding.verdict is verdict for finding in findings) for verdict in CheckVerdict}
    faults = sum(finding.is_fault for finding in findings)
    summed = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items())
    yield f"{summed}: {'the contract holds' if is_good(findings) else f'{faults} to correct'}"


def report_json(robot: str, findings: Sequence[CheckFinding]) -> str:
    """Return the report for a program, as JSON.

    Args:
        robot: Name of the robot.
        findings: All findings.
    """
    rows = [
        {
            "check": finding.check,
            "verdict": finding.verdict.value,
            "required": finding.required,
            "text": finding.text,
            "remedy": finding.remedy,
        }
        for finding in findings
    ]
    return json.dumps({"robot": robot, "good": is_good(findings), "findings": rows}, indent=2)
