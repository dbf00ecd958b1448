"""What the upstream's version means."""

from __future__ import annotations

import pytest

from mithril_proxy.errors import UpstreamUnavailable
from mithril_proxy.policy import load_policy
from mithril_proxy.proxy.posture import Observation, judged_version, parsed_version
from mithril_proxy.proxy.versions import narrowed, observe_version
from tests.harness import FakeAnswer, FakeUpstream, json_answer


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("1.6.5", "ok"),
        ("1.2.0", "ok"),
        ("1.6.5-local", "ok"),
        ("v1.3", "ok"),
        ("1.1.9", "fail"),
        ("0.5.8", "fail"),
        ("1.7.0", "warn"),
        ("2.0", "warn"),
        ("", "warn"),
        ("main", "warn"),
    ],
)
def test_a_version_is_known_old_or_unknown(text: str, verdict: str) -> None:
    assert judged_version(text).verdict == verdict
    assert (judged_version(text).advice == "") is (verdict == "ok")


def test_a_version_is_read_from_its_beginning() -> None:
    assert parsed_version("1.10.3") == (1, 10)


@pytest.mark.parametrize("verdict", ["warn", "fail"])
def test_recalls_of_an_unknown_version_are_left_with_what_can_be_checked(verdict: str) -> None:
    policy = narrowed(load_policy(), Observation(verdict, "?"))  # type: ignore[arg-type]
    assert policy.recall.search_types == ("CHUNKS",)
    assert policy.recall.default_search_type == "CHUNKS"
    assert policy.recall.allow_graph_family is False


def test_a_known_version_changes_nothing() -> None:
    policy = load_policy()
    assert narrowed(policy, Observation("ok", "Cognee 1.6.5")) is policy


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (json_answer({"version": "1.6.5"}), "ok"),
        (json_answer({"status": "starting"}, 503), "warn"),
        (json_answer([]), "warn"),
        (FakeAnswer(200, [], [b"<html>"]), "warn"),
        (UpstreamUnavailable("down"), "warn"),
    ],
)
async def test_the_version_is_what_health_says(answer: FakeAnswer | Exception, verdict: str) -> None:
    assert (await observe_version(FakeUpstream(script=lambda sent: answer))).verdict == verdict
