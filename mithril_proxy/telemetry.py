"""Logs and metrics: one event a request at the edge, counters with bounded labels.

Claim text, tokens and bodies never go in: ids, lengths, digests and rule names only.
"""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass, field

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram
from structlog.typing import FilteringBoundLogger

from mithril_proxy.types import Decision

LATENCY_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


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


@dataclass(frozen=True, slots=True)
class Metrics:
    """Every metric of this process, in one registry. Labels are enums and rule names, never client text."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    decisions: Counter = field(init=False)
    redactions: Counter = field(init=False)
    refusals: Counter = field(init=False)
    unavailable: Counter = field(init=False)
    requests: Counter = field(init=False)
    request_seconds: Histogram = field(init=False)
    stage_seconds: Histogram = field(init=False)
    scrubbed: Counter = field(init=False)

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        registry = self.registry
        put(
            "decisions",
            Counter("mithril_decisions_total", "Decisions on claims.", ["status", "mode"], registry=registry),
        )
        put(
            "redactions",
            Counter("mithril_redactions_total", "Credentials redacted from writes.", ["rule"], registry=registry),
        )
        put(
            "refusals",
            Counter("mithril_refusals_total", "Calls refused before any decision.", ["code"], registry=registry),
        )
        put(
            "unavailable",
            Counter(
                "mithril_unavailable_total",
                "Evidence that was missing and lowered a status.",
                ["rule"],
                registry=registry,
            ),
        )
        put(
            "requests",
            Counter("mithril_requests_total", "Requests by what they are.", ["operation", "status"], registry=registry),
        )
        put(
            "request_seconds",
            Histogram(
                "mithril_request_seconds",
                "Time to the last byte of the answer.",
                ["operation"],
                registry=registry,
                buckets=LATENCY_BUCKETS_S,
            ),
        )
        put(
            "stage_seconds",
            Histogram(
                "mithril_stage_seconds",
                "Time of one stage on one claim.",
                ["stage"],
                registry=registry,
                buckets=LATENCY_BUCKETS_S,
            ),
        )
        put(
            "scrubbed",
            Counter("mithril_scrubbed_total", "Credentials scrubbed from answers.", ["rule"], registry=registry),
        )

    def count_decision(self, decision: Decision) -> None:
        """Count one decision, its stages and what it lacked."""
        self.decisions.labels(decision.status.value, decision.mode.value).inc()
        for stage, milliseconds in decision.stage_ms.items():
            self.stage_seconds.labels(stage).observe(milliseconds / 1000)
        for finding in decision.findings:
            if finding.stage == "redact":
                self.redactions.labels(finding.rule).inc()
            if finding.rule.endswith(".unavailable"):
                self.unavailable.labels(finding.rule).inc()
