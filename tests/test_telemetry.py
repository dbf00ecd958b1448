"""Metrics: what is counted, that every one is used as it is named, and that logs carry no text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from prometheus_client import generate_latest

from mithril_proxy.errors import StoreUnavailable
from mithril_proxy.judge.usage import JudgeUsage, usage_of
from mithril_proxy.store.desk import QueueDepth
from mithril_proxy.telemetry import Metrics, configure_logging, observe_store
from mithril_proxy.types import Finding, Mode, Status
from tests.admin.conftest import admin_bench
from tests.store.values import START, FixedClock, decision

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
NAME = re.compile(r"\bmithril_[a-z_]+")
SUFFIXES = ("_bucket", "_sum", "_count")


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def names(metrics: Metrics) -> set[str]:
    """Every name that a query can use."""
    found: set[str] = set()
    for family in metrics.registry.collect():
        total = family.name + "_total" if family.type == "counter" else family.name
        found |= {total} | ({family.name + suffix for suffix in SUFFIXES} if family.type == "histogram" else set())
    return found


@pytest.mark.parametrize("path", ["prometheus/alerts.yml", "grafana/mithril.json"])
def test_alerts_and_boards_use_metrics_that_exist(path: str) -> None:
    used = set(NAME.findall((DEPLOY / path).read_text(encoding="utf-8")))
    assert used
    assert used <= names(Metrics())


def test_every_metric_is_on_the_board() -> None:
    board = json.loads((DEPLOY / "grafana/mithril.json").read_text(encoding="utf-8"))
    shown = " ".join(target["expr"] for panel in board["panels"] for target in panel["targets"])
    missing = {name for name in names(Metrics()) if not name.endswith(("_sum", "_count", "_seconds"))}
    assert {name for name in missing if name not in shown} == set()


def test_a_decision_is_counted_with_its_stages_findings_and_what_it_lacked() -> None:
    metrics = Metrics()
    findings = (
        Finding("redact", "redact.jwt", "clm_1", 0.9),
        Finding("contradiction", "judge.unavailable", "clm_1", 0.6),
        Finding("reputation", "reputation.probation", "clm_1", 0.0),
    )
    metrics.count_decision(
        decision(FixedClock(), status=Status.REVIEW, findings=findings, mode=Mode.ENFORCE, stage_ms={"redact": 2.0})
    )
    assert value(metrics, "mithril_decisions_total", status="review", mode="enforce") == 1
    assert value(metrics, "mithril_redactions_total", rule="redact.jwt") == 1
    assert value(metrics, "mithril_unavailable_total", rule="judge.unavailable") == 1
    assert value(metrics, "mithril_findings_total", rule="redact.jwt", status="review") == 1
    assert value(metrics, "mithril_findings_total", rule="reputation.probation", status="review") is None
    assert value(metrics, "mithril_stage_seconds_sum", stage="redact") == pytest.approx(0.002)


def test_a_judges_totals_are_taken_over_once_and_go_on_after_a_reload() -> None:
    metrics, usage = Metrics(), JudgeUsage(input_price=2.0)
    usage.passes, usage.input_tokens = 3, 1_000_000
    usage.unavailable["timeout"] = 1
    for _ in range(2):
        metrics.count_usage(usage)
    usage.unavailable["timeout"] = 2
    metrics.count_usage(usage)
    metrics.count_usage(JudgeUsage(passes=1))
    metrics.count_usage(None)
    assert value(metrics, "mithril_judge_passes_total") == 4
    assert value(metrics, "mithril_judge_tokens_total", direction="input") == 1_000_000
    assert value(metrics, "mithril_judge_cost_total") == pytest.approx(2.0)
    assert value(metrics, "mithril_judge_errors_total", reason="timeout") == 2


def test_the_usage_of_a_judge_is_found_under_its_floor() -> None:
    class Model:
        usage = JudgeUsage()

    class Floored:
        llm = Model()

    assert usage_of(Floored()) is Model.usage  # type: ignore[arg-type]
    assert usage_of(Model()) is Model.usage  # type: ignore[arg-type]
    assert usage_of(object()) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reputation", "tenth"), [(0.0, "0.1"), (0.05, "0.1"), (0.1, "0.2"), (0.6, "0.7"), (0.99, "1.0"), (1.0, "1.0")]
)
def test_sources_are_counted_by_tenths_of_reputation(reputation: float, tenth: str) -> None:
    metrics = Metrics()
    metrics.show_store(QueueDepth({}, None), [reputation], START)
    assert value(metrics, "mithril_sources", at_most=tenth) == 1
    assert value(metrics, "mithril_queue_oldest_seconds") == 0


async def test_a_scrape_shows_the_queue_and_says_when_the_database_is_away(tmp_path: Path) -> None:
    async with admin_bench(tmp_path) as admin:
        await admin.hold("The canteen opens at nine.")
        text = (await admin.as_token(None).get("/metrics")).text
        assert 'mithril_queue_entries{state="pending"} 1.0' in text
        assert "mithril_store_up 1.0" in text
        assert "canteen" not in text


async def test_a_database_that_cannot_be_read_is_a_gauge(tmp_path: Path) -> None:
    class Away:
        async def queue_depth(self) -> QueueDepth:
            raise StoreUnavailable("away")

    metrics = Metrics()
    await observe_store(metrics, Away(), FixedClock())  # type: ignore[arg-type]
    assert value(metrics, "mithril_store_up") == 0
    assert b"mithril_store_up 0.0" in generate_latest(metrics.registry)


@pytest.fixture
def logging_as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()


@pytest.mark.usefixtures("logging_as_before")
def test_json_logs_are_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "json").info("request", request_id="req_1", ms=1.5)
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["request_id"], line["level"]) == ("request", "req_1", "info")
