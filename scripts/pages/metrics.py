"""docs/metrics.md, from the registry of a process."""

from __future__ import annotations

from prometheus_client import Histogram
from prometheus_client.metrics import MetricWrapperBase

from mithril_proxy.telemetry import Metrics
from scripts.pages.tables import code, table

HEAD = """\
# Metrics

Made by `scripts/docs` from `mithril_proxy/telemetry.py`. The admin plane answers `GET /metrics` in Prometheus' text format
([settings.md](settings.md): `MITHRIL_ADMIN_LISTEN`). Labels are enums, rule ids and error codes ([errors.md](errors.md)),
never text of a client, so their number is bounded. Alerts to begin with stand in `deploy/prometheus/alerts.yml`.
"""


def metrics_page() -> str:
    """Markdown with every metric, its type, its labels and what it counts."""
    metrics = Metrics()
    found = [value for name in dir(metrics) if isinstance(value := getattr(metrics, name), MetricWrapperBase)]
    rows = sorted(_row(metric) for metric in found)
    return "\n".join([HEAD, *table(("metric", "type", "labels", "meaning"), rows), ""])


def _row(metric: MetricWrapperBase) -> tuple[str, str, str, str]:
    family = next(iter(metric.describe()))
    name = family.name + ("_total" if family.type == "counter" else "")
    labels = ", ".join(code(label) for label in metric._labelnames)  # the library has no public name for them
    extra = " Also `_bucket`, `_count` and `_sum`." if isinstance(metric, Histogram) else ""
    return code(name), family.type, labels, f"{family.documentation}{extra}"
