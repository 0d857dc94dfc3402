"""Checks of topics, types, QoS, rates, actions and services. Imports no ROS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .contract import InterfaceRule, TopicRule
from .findings import CheckFinding, failed, missing, passed
from .recording import Publisher, Received, Recording

RATE_SHARE = 0.8
"""Part of the wanted rate that must arrive: a subscriber on a busy machine misses some messages."""


def judge_topics(rules: Sequence[TopicRule], recording: Recording) -> Iterator[CheckFinding]:
    """Judge the publishers, types and QoS of topics.

    Args:
        rules: The topics.
        recording: The received messages.

    Yields:
        The findings.
    """
    for rule in rules:
        publishers = recording.publishers.get(rule.name, ())
        check = f"topic {rule.name}"
        if not publishers:
            remedy = f"publish {rule.type} on {rule.name}"
            yield missing(check, "it has no publisher", remedy, required=rule.required)
            continue
        fault = _type_fault(rule, publishers) or _count_fault(rule, publishers)
        yield fault or passed(check, f"{rule.type} by {', '.join(sorted(p.node for p in publishers))}")
        if rule.reliable and all(publisher.type == rule.type for publisher in publishers):
            yield _qos(rule, publishers)


def judge_rates(rules: Sequence[TopicRule], recording: Recording) -> Iterator[CheckFinding]:
    """Judge that messages arrive, and often enough.

    Args:
        rules: The topics.
        recording: The received messages.

    Yields:
        The findings.
    """
    for rule in rules:
        publishers = recording.publishers.get(rule.name, ())
        if not rule.is_read or not any(publisher.type == rule.type for publisher in publishers):
            continue
        received, check = recording.received.get(rule.name, ()), f"rate {rule.name}"
        if not received:
            remedy = "publish also without subscribers, and without waiting for a first request"
            yield failed(check, "is offered, and nothing came", remedy)
        elif rule.rate_hz > 0.0:
            rate_hz = measured_rate(received)
            text = f"{rate_hz:.0f} Hz of {rule.rate_hz:.0f} Hz"
            if rate_hz >= RATE_SHARE * rule.rate_hz:
                yield passed(check, text)
            else:
                remedy = (
                    f"publish {rule.name} at {rule.rate_hz:.0f} Hz of simulated time, from the physics steps"
                )
                yield failed(check, text, remedy)


def judge_interfaces(
    kind: str, rules: Sequence[InterfaceRule], offered: Mapping[str, str]
) -> Iterator[CheckFinding]:
    """Judge the presence and the types of actions or services.

    Args:
        kind: "action" or "service".
        rules: The actions or services.
        offered: Names and types that are offered.

    Yields:
        The findings.
    """
    for rule in rules:
        check = f"{kind} {rule.name}"
        if rule.name not in offered:
            yield missing(check, "it has no server", f"serve {rule.type} as {rule.name}", required=True)
        elif offered[rule.name] != rule.type:
            yield failed(check, f"is a {offered[rule.name]}", f"serve it as {rule.type}")
        else:
            yield passed(check, rule.type)


def measured_rate(received: Sequence[Received]) -> float:
    """Return the messages per second of their own stamps, or of steady time if that is more, Hz.

    Args:
        received: The messages of one topic, one or more.
    """
    spans = (received[-1].stamp_s - received[0].stamp_s, received[-1].received_s - received[0].received_s)
    return max(((len(received) - 1) / span for span in spans if span > 0.0), default=0.0)


def _type_fault(rule: TopicRule, publishers: Sequence[Publisher]) -> CheckFinding | None:
    wrong = [publisher for publisher in publishers if publisher.type != rule.type]
    if not wrong:
        return None
    text = ", ".join(f"{publisher.node} publishes {publisher.type}" for publisher in wrong)
    return failed(f"topic {rule.name}", text, f"publish {rule.type}, and the other under another name")


def _count_fault(rule: TopicRule, publishers: Sequence[Publisher]) -> CheckFinding | None:
    if not rule.single or len(publishers) == 1:
        return None
    names = ", ".join(sorted(publisher.node for publisher in publishers))
    text = f"{len(publishers)} publishers: {names}"
    return failed(f"topic {rule.name}", text, "let one node alone publish it; end or remap the others")


def _qos(rule: TopicRule, publishers: Sequence[Publisher]) -> CheckFinding:
    check = f"qos {rule.name}"
    for publisher in publishers:
        if not publisher.is_reliable:
            remedy = "publish it reliable: reliable subscribers receive nothing from a best-effort publisher"
            return failed(check, f"{publisher.node} publishes best effort", remedy)
        if rule.latched and not publisher.is_latched:
            remedy = "publish it transient local with depth 1: a late subscriber receives nothing from a volatile one"
            return failed(check, f"{publisher.node} publishes volatile", remedy)
    return passed(check, "reliable, transient local" if rule.latched else "reliable")
