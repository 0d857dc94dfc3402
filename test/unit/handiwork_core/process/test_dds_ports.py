"""A port that another program holds alone is reported; one that is shared, as DDS does it, is not."""

from __future__ import annotations

import socket

import pytest

from handiwork_core.process.dds_ports import discovery_port, domain_of, fault_of

DOMAIN = {"ROS_DOMAIN_ID": "231"}


def test_the_port_follows_the_rule_of_rtps() -> None:
    assert [discovery_port(domain) for domain in (0, 1, 42)] == [7400, 7650, 17900]


def test_a_port_that_is_not_shared_is_named() -> None:
    assert fault_of(DOMAIN) == ""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("", discovery_port(231)))
        assert f"UDP port {discovery_port(231)}" in fault_of(DOMAIN)
        assert fault_of({**DOMAIN, "RMW_IMPLEMENTATION": "rmw_zenoh_cpp"}) == ""
        assert fault_of({**DOMAIN, "ROS_DISCOVERY_SERVER": "127.0.0.1:11811"}) == ""
    assert fault_of(DOMAIN) == ""


def test_a_shared_port_is_free() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("", discovery_port(231)))
        assert fault_of(DOMAIN) == ""


@pytest.mark.parametrize("text", ["300", "-1", "many"])
def test_a_bad_domain_is_named(text: str) -> None:
    assert repr(text) in fault_of({"ROS_DOMAIN_ID": text})
    with pytest.raises(ValueError, match="ROS_DOMAIN_ID"):
        domain_of({"ROS_DOMAIN_ID": text})
