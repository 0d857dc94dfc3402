"""Topics, types, QoS, rates, actions and services. Knows no ROS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .contract import DoorRule, TopicRule
from .findings import Finding, failed, missing, passed
from .recording import Heard, Publisher, Recording

RATE_SHARE = 0.8
"""Part of the asked rate that must come: a listener on a busy machine misses some."""


def judge_topics(rules: Sequence[TopicRule], recording: Recording) -> Iterator[Finding]:
    """Who publishes what, and how."""
    for rule in rules:
        publishers = recording.publishers.get(rule.name, ())
        check = f"topic {rule.name}"
        if not publishers:
            mend = f"publish {rule.type} on {rule.name}"
            yield missing(check, "nobody publishes it", mend, required=rule.required)
            continue
        fault = _type_fault(rule, publishers) or _count_fault(rule, publishers)
        yield fault or passed(check, f"{rule.type} by {', '.join(sorted(p.node for p in publishers))}")
        if rule.reliable and all(publisher.type == rule.type for publisher in publishers):
            yield _qos(rule, publishers)


def judge_rates(rules: Sequence[TopicRule], recording: Recording) -> Iterator[Finding]:
    """Whether messages come, and often enough."""
    for rule in rules:
        publishers = recording.publishers.get(rule.name, ())
        if not any(publisher.type == rule.type for publisher in publishers):
            continue
        heard, check = recording.heard.get(rule.name, ()), f"rate {rule.name}"
        if not heard:
            mend = "publish also while nobody subscribed yet, and without waiting for a first request"
            yield failed(check, "is offered, and nothing came", mend)
        elif rule.rate_hz > 0.0:
            rate_hz = measured_rate(heard)
            text = f"{rate_hz:.0f} Hz of {rule.rate_hz:.0f} Hz"
            if rate_hz >= RATE_SHARE * rule.rate_hz:
                yield passed(check, text)
            else:
                mend = (
                    f"publish {rule.name} at {rule.rate_hz:.0f} Hz of simulated time, from the physics steps"
                )
                yield failed(check, text, mend)


def judge_doors(kind: str, rules: Sequence[DoorRule], offered: Mapping[str, str]) -> Iterator[Finding]:
    """Actions or services."""
    for rule in rules:
        check = f"{kind} {rule.name}"
        if rule.name not in offered:
            yield missing(check, "nobody offers it", f"serve {rule.type} as {rule.name}", required=True)
        elif offered[rule.name] != rule.type:
            yield failed(check, f"is a {offered[rule.name]}", f"serve it as {rule.type}")
        else:
            yield passed(check, rule.type)


def measured_rate(heard: Sequence[Heard]) -> float:
    """Messages per second of their own stamps, or of steady time where that is more [Hz]."""
    spans = (heard[-1].stamp_s - heard[0].stamp_s, heard[-1].heard_s - heard[0].heard_s)
    return max(((len(heard) - 1) / span for span in spans if span > 0.0), default=0.0)


def _type_fault(rule: TopicRule, publishers: Sequence[Publisher]) -> Finding | None:
    wrong = [publisher for publisher in publishers if publisher.type != rule.type]
    if not wrong:
        return None
    text = ", ".join(f"{publisher.node} publishes {publisher.type}" for publisher in wrong)
    return failed(f"topic {rule.name}", text, f"publish {rule.type}, and the other under another name")


def _count_fault(rule: TopicRule, publishers: Sequence[Publisher]) -> Finding | None:
    if not rule.single or len(publishers) == 1:
        return None
    names = ", ".join(sorted(publisher.node for publisher in publishers))
    text = f"{len(publishers)} publishers: {names}"
    return failed(f"topic {rule.name}", text, "let one node alone publish it; end or remap the others")


def _qos(rule: TopicRule, publishers: Sequence[Publisher]) -> Finding:
    check = f"qos {rule.name}"
    for publisher in publishers:
        if not publisher.is_reliable:
            mend = "publish it reliable: reliable subscribers hear nothing from a best-effort publisher"
            return failed(check, f"{publisher.node} publishes best effort", mend)
        if rule.latched and not publisher.is_latched:
            mend = (
                "publish it transient local with depth 1: a late subscriber hears nothing from a volatile one"
            )
            return failed(check, f"{publisher.node} publishes volatile", mend)
    return passed(check, "reliable, transient local" if rule.latched else "reliable")
