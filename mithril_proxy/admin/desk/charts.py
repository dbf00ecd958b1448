"""Charts as inline SVG: no script, no style attribute (the page's policy forbids both), colours by class. Pure.

Each says in its label what it shows; the numbers stand in a table beside it for who cannot see it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from mithril_proxy.types import Contribution, Status

WIDTH, HEIGHT = 640, 160
LEFT, BOTTOM, TOP = 34, 18, 8
ROW = 26  # of the waterfall

Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a stacked chart: its label and how many there were of each status."""

    label: str
    counts: Mapping[Status, int]

    @property
    def total(self) -> int:
        """The height of the column."""
        return sum(self.counts.values())


def svg(label: str, parts: Sequence[Markup], height: int = HEIGHT) -> Markup:
    """A drawing of WIDTH x `height`, named for who cannot see it."""
    head = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(WIDTH, height, label)
    return head + Markup().join(parts) + Markup("</svg>")


def stacked(columns: Sequence[Column], label: str, *, lines: Mapping[str, float] | None = None) -> Markup:
    """Columns of counts by status; `lines` are named places between 0 and 1 of the width."""
    most = max((column.total for column in columns), default=0) or 1
    step = (WIDTH - LEFT) / max(1, len(columns))
    height = HEIGHT - BOTTOM - TOP
    parts = [_axis(most)]
    for place, column in enumerate(columns):
        parts += _column(column, LEFT + place * step, step, height / most)
    parts += [_line(name, at) for name, at in (lines or {}).items()]
    parts += _labels(columns, step)
    return svg(label, parts)


def _column(column: Column, x: float, step: float, scale: float) -> list[Markup]:
    bars, below = [], HEIGHT - BOTTOM * 1.0
    for status in Status:
        count = column.counts.get(status, 0)
        if count:
            below -= count * scale
            bars.append(
                Markup(
                    '<rect class="s-{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">'
                    "<title>{}: {} {}</title></rect>"
                ).format(status, x + step * 0.1, below, step * 0.8, count * scale, column.label, count, status)
            )
    return bars


def _axis(most: int) -> Markup:
    base = HEIGHT - BOTTOM
    return Markup(
        '<line class="axis" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>'
        '<text class="tick" x="{3}" y="{4}" text-anchor="end">{5}</text>'
        '<text class="tick" x="{3}" y="{2}" text-anchor="end">0</text>'
    ).format(LEFT, WIDTH, base, LEFT - 4, TOP + 8, most)


def _labels(columns: Sequence[Column], step: float) -> list[Markup]:
    every = max(1, len(columns) // 6)
    return [
        Markup('<text class="tick" x="{:.1f}" y="{}">{}</text>').format(LEFT + place * step, HEIGHT - 5, column.label)
        for place, column in enumerate(columns)
        if place % every == 0 and place * step < WIDTH - LEFT - 40
    ]


def _line(name: str, at: float) -> Markup:
    x = LEFT + at * (WIDTH - LEFT)
    return Markup(
        '<line class="threshold" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}"/>'
        '<text class="tick" x="{3:.1f}" y="{4}">{5}</text>'
    ).format(x, TOP, HEIGHT - BOTTOM, x + 3, TOP + 8, name)


def reputation_line(values: Sequence[float], prior: float, label: str) -> Markup:
    """How a reputation moved, oldest first, with its prior as a dashed line."""
    height = HEIGHT - BOTTOM - TOP
    step = (WIDTH - LEFT - 8) / max(1, len(values) - 1)

    def y(value: float) -> float:
        return TOP + (1 - value) * height

    points = " ".join(f"{LEFT + place * step:.1f},{y(value):.1f}" for place, value in enumerate(values))
    dots = [
        Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="2.5"><title>{:.3f}</title></circle>').format(
            LEFT + place * step, y(value), value
        )
        for place, value in enumerate(values)
    ]
    scale = [
        Markup('<text class="tick" x="{}" y="{:.1f}" text-anchor="end">{}</text>').format(LEFT - 4, y(at) + 3, at)
        for at in (0, 0.5, 1)
    ]
    dashed = Markup('<line class="threshold" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>').format(
        LEFT, WIDTH, y(prior)
    )
    line = Markup('<polyline class="line" points="{}"/>').format(points)
    return svg(label, [*scale, dashed, line, *dots])


def waterfall(
    contributions: Sequence[Contribution], raw: float, scale: float, thresholds: Mapping[str, float], label: str
) -> Markup:
    """From nothing to the raw score, one signal a row; thresholds are drawn where they lie on the raw scale."""
    ends = [0.0]
    for one in contributions:
        ends.append(ends[-1] + one.amount)
    low, high = min(0.0, *ends), max(scale, *ends)
    label_width, height = 150, ROW * (len(contributions) + 1) + BOTTOM

    def x(value: float) -> float:
        return label_width + (value - low) / (high - low) * (WIDTH - label_width - 60)

    rows = [_step(one, ends[place], place, x) for place, one in enumerate(contributions)]
    rows.append(_result(raw, len(contributions), x))
    for name, at in thresholds.items():
        rows.append(
            Markup(
                '<line class="threshold" x1="{0:.1f}" x2="{0:.1f}" y1="0" y2="{1}"/>'
                '<text class="tick" x="{0:.1f}" y="{2}" text-anchor="middle">{3}</text>'
            ).format(x(at * scale), height - BOTTOM, height - 5, name)
        )
    return svg(label, rows, height)


def _step(one: Contribution, start: float, place: int, x: Scale) -> Markup:
    end = start + one.amount
    left, right = sorted((x(start), x(end)))
    return Markup(
        '<text class="name" x="6" y="{y}">{signal}</text>'
        '<rect class="{kind}" x="{left:.1f}" y="{top}" width="{width:.1f}" height="14"/>'
        '<text class="tick" x="{after:.1f}" y="{y}">{amount:+.3f}</text>'
    ).format(
        y=place * ROW + 17,
        signal=one.signal.replace("_", " "),
        kind="for" if one.amount >= 0 else "against",
        left=left,
        top=place * ROW + 6,
        width=max(1.0, right - left),
        after=right + 4,
        amount=one.amount,
    )


def _result(raw: float, place: int, x: Scale) -> Markup:
    left, right = sorted((x(0.0), x(raw)))
    return Markup(
        '<text class="name strong" x="6" y="{y}">raw</text>'
        '<rect class="raw" x="{left:.1f}" y="{top}" width="{width:.1f}" height="14"/>'
        '<text class="tick strong" x="{after:.1f}" y="{y}">{raw:.3f}</text>'
    ).format(y=place * ROW + 17, left=left, top=place * ROW + 6, width=max(1.0, right - left), after=right + 4, raw=raw)
