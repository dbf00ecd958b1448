"""Logs and metrics: one event a request at the edge, counters with bounded labels.

Claim text, tokens and bodies never go in: ids, lengths, digests and rule names only.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter as Counted
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from structlog.typing import FilteringBoundLogger

from mithril_proxy.clock import Clock
from mithril_proxy.errors import StoreUnavailable
from mithril_proxy.judge.usage import JudgeUsage
from mithril_proxy.store.desk import DeskStore, QueueDepth
from mithril_proxy.types import Decision, ReviewState

LATENCY_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
TENTHS = 10  # buckets of reputation: enough to see a shift, few enough for any Prometheus


def configure_logging(level: str, log_format: str) -> FilteringBoundLogger:
    """The process's logger, to stderr; `json` gives one object a line."""
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.StackInfoRenderer(),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    logger: FilteringBoundLogger = structlog.get_logger()
    return logger


class Metrics:
    """Every metric of this process, in one registry. Labels are enums and rule names, never client text."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.decisions = self._counter("mithril_decisions_total", "Decisions on claims.", "status", "mode")
        self.findings = self._counter(
            "mithril_findings_total", "Findings that speak against a claim.", "rule", "status"
        )
        self.redactions = self._counter("mithril_redactions_total", "Credentials redacted from writes.", "rule")
        self.refusals = self._counter("mithril_refusals_total", "Calls refused before any decision.", "code")
        self.unavailable = self._counter(
            "mithril_unavailable_total", "Evidence that was missing: the decision failed closed.", "rule"
        )
        self.requests = self._counter("mithril_requests_total", "Requests by what they are.", "operation", "status")
        self.request_seconds = self._histogram(
            "mithril_request_seconds", "Time to the last byte of the answer.", "operation"
        )
        self.stage_seconds = self._histogram("mithril_stage_seconds", "Time of one stage on one claim.", "stage")
        self.scrubbed = self._counter("mithril_scrubbed_total", "Credentials scrubbed from answers.", "rule")
        self.judge_calls = self._counter("mithril_judge_passes_total", "Calls to the language model that judges.")
        self.judge_errors = self._counter("mithril_judge_errors_total", "Judgements that failed.", "reason")
        self.judge_tokens = self._counter("mithril_judge_tokens_total", "Tokens of the judge.", "direction")
        self.judge_cost = self._counter("mithril_judge_cost_total", "Cost of the judge, in the policy's currency.")
        self.queue_entries = self._gauge("mithril_queue_entries", "Held claims by state.", "state")
        self.queue_oldest_seconds = self._gauge("mithril_queue_oldest_seconds", "Age of the oldest pending claim.")
        self.sources = self._gauge("mithril_sources", "Sources by reputation, the upper end of its tenth.", "at_most")
        self.store_up = self._gauge("mithril_store_up", "1 when the database could be read at this scrape.")
        self.upstream_up = self._gauge("mithril_upstream_up", "1 when the Cognee server answered last.")
        self._seen = _UsageSeen()

    def count_decision(self, decision: Decision) -> None:
        """Count one decision, its stages and what it lacked."""
        status = decision.status.value
        self.decisions.labels(status, decision.mode.value).inc()
        for rule in decision.reasons:
            self.findings.labels(rule, status).inc()
        for stage, milliseconds in decision.stage_ms.items():
            self.stage_seconds.labels(stage).observe(milliseconds / 1000)
        for finding in decision.findings:
            if finding.stage == "redact":
                self.redactions.labels(finding.rule).inc()
            if finding.rule.endswith(".unavailable"):
                self.unavailable.labels(finding.rule).inc()

    def count_usage(self, usage: JudgeUsage | None) -> None:
        """Take over what the judge has counted since the last call; None for a judge that counts nothing."""
        if usage is None:
            return
        before = self._seen.of(usage)
        self.judge_calls.inc(usage.passes - before.passes)
        self.judge_tokens.labels("input").inc(usage.input_tokens - before.input_tokens)
        self.judge_tokens.labels("output").inc(usage.output_tokens - before.output_tokens)
        self.judge_cost.inc(usage.cost - before.cost)
        for reason, count in usage.unavailable.items():
            self.judge_errors.labels(reason).inc(count - before.unavailable[reason])
        self._seen.keep(usage)

    def show_store(self, depth: QueueDepth, reputations: Iterable[float], now: datetime) -> None:
        """Set the gauges of the queue and of the sources."""
        for state in ReviewState:
            self.queue_entries.labels(state.value).set(depth.by_state.get(state, 0))
        oldest = depth.oldest_pending
        self.queue_oldest_seconds.set(0 if oldest is None else max(0.0, (now - oldest).total_seconds()))
        counted = Counted(min(TENTHS, int(reputation * TENTHS) + 1) for reputation in reputations)
        for tenth in range(1, TENTHS + 1):
            self.sources.labels(f"{tenth / TENTHS:.1f}").set(counted[tenth])

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(name, help_text, labels, registry=self.registry)

    def _gauge(self, name: str, help_text: str, *labels: str) -> Gauge:
        return Gauge(name, help_text, labels, registry=self.registry)

    def _histogram(self, name: str, help_text: str, *labels: str) -> Histogram:
        return Histogram(name, help_text, labels, registry=self.registry, buckets=LATENCY_BUCKETS_S)


@dataclass(slots=True)
class _UsageSeen:
    """What was taken over from a judge's running totals. Another judge, after a reload, begins at nothing again."""

    source: JudgeUsage | None = None
    totals: JudgeUsage = field(default_factory=JudgeUsage)

    def of(self, usage: JudgeUsage) -> JudgeUsage:
        """The totals of this judge at the last look."""
        return self.totals if self.source is usage else JudgeUsage()

    def keep(self, usage: JudgeUsage) -> None:
        """Remember the totals of now."""
        self.source, self.totals = usage, replace(usage, unavailable=Counted(usage.unavailable))


async def observe_store(metrics: Metrics, store: DeskStore, clock: Clock) -> None:
    """Set the gauges that are read from the database; a database that cannot be read is a gauge too."""
    try:
        depth, reputations = await store.queue_depth(), await store.reputations()
    except StoreUnavailable:
        metrics.store_up.set(0)
        return
    metrics.store_up.set(1)
    metrics.show_store(depth, reputations, clock.now())
