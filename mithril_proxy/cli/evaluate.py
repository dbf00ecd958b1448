"""`mithril evaluate`: a dry run of the chain, with no upstream and no database."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TextIO

import click
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mithril_proxy.app import build_dry_firewall
from mithril_proxy.chain.inspection import FixedMemory
from mithril_proxy.cli.output import print_json, print_table, runs_async
from mithril_proxy.errors import ConfigurationError
from mithril_proxy.firewall import Call, Firewall, Judgement
from mithril_proxy.settings import load_settings
from mithril_proxy.types import Claim, Memory, Mode, Provenance


class Question(BaseModel):
    """One claim to evaluate, as a JSON line."""

    model_config = ConfigDict(extra="forbid")

    id: str | int = ""
    text: str
    source_reputation: float = Field(0.6, ge=0.0, le=1.0)
    source: str = "evaluated"
    context: list[str] = []
    context_sources: list[str | None] = []
    claimed_at: datetime | None = None


@click.command()
@click.option("--jsonl", is_flag=True, help="Read one claim a line from stdin, print one JSON object a line.")
@click.option("--policy", metavar="FILE", help="Policy file or the name of a shipped one.")
@click.option("--judge", type=click.Choice(["openai", "local"]), help="Judge (default: openai when a key is set).")
@click.option("--text", help="The claim; without it and without --jsonl, stdin is read as one claim.")
@click.option(
    "--source-reputation",
    type=click.FloatRange(0.0, 1.0),
    default=0.6,
    show_default=True,
    help="Reputation of its source.",
)
@click.option("--context", multiple=True, metavar="TEXT", help="A verified memory near it; repeatable.")
@click.option(
    "--context-source",
    "context_sources",
    multiple=True,
    metavar="NAME",
    help="Who vouches for that memory; in the same order.",
)
@click.option(
    "--claimed-at",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]),
    help="When the fact is from.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for one claim too.")
@runs_async
async def evaluate(
    jsonl: bool,
    policy: str | None,
    judge: str | None,
    text: str | None,
    source_reputation: float,
    context: tuple[str, ...],
    context_sources: tuple[str, ...],
    claimed_at: datetime | None,
    as_json: bool,
) -> None:
    """Say what would become of a claim, and why.

    \b
    Examples:
      mithril evaluate --text "The office opens at 9." --source-reputation 0.98
      mithril evaluate --jsonl < claims.jsonl

    \b
    A line: {"id": "a", "text": "…", "source_reputation": 0.6,
             "context": ["…"], "context_sources": ["wiki"], "claimed_at": null}
    """
    settings = load_settings(policy=policy, judge=judge)
    firewall = build_dry_firewall(settings)
    if jsonl:
        for question in read_questions(sys.stdin):
            print_json(answered(question, await judged(firewall, question)))
        return
    question = Question(
        text=text if text is not None else sys.stdin.read(),
        source_reputation=source_reputation,
        context=list(context),
        context_sources=list(context_sources),
        claimed_at=claimed_at,
    )
    judgement = await judged(firewall, question)
    if as_json:
        print_json(answered(question, judgement))
    else:
        _print(judgement)


def read_questions(lines: TextIO) -> Iterator[Question]:
    """One question a line; blank lines are passed over. Raises ConfigurationError that names the line and the field."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield Question.model_validate(json.loads(line))
        except json.JSONDecodeError as error:
            raise ConfigurationError(f"line {number}: no JSON object ({error.msg})") from None
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"]) or "line"
            raise ConfigurationError(f"line {number}: {field}: {first['msg']}") from None


async def judged(firewall: Firewall, question: Question) -> Judgement:
    """The decision on one question, recorded nowhere."""
    sources = [*question.context_sources, *(None for _ in question.context)]
    memories = tuple(Memory(memory, source=source) for memory, source in zip(question.context, sources, strict=False))
    claim = Claim(id=str(question.id), text=question.text, locator="text", claimed_at=_aware(question.claimed_at))
    provenance = Provenance(question.source, question.source, question.source_reputation, is_authenticated=True)
    call = Call(request_id="evaluate", route="evaluate", mode=Mode.OBSERVE)
    return await firewall.inspect(claim, provenance, memory=FixedMemory(memories), call=call)


def _aware(moment: datetime | None) -> datetime | None:
    """A time without a zone is UTC, whatever this machine's zone is."""
    if moment is None or moment.tzinfo is not None:
        return moment
    return moment.replace(tzinfo=UTC)


def answered(question: Question, judgement: Judgement) -> dict[str, Any]:
    """The pinned answer to one question."""
    decision = judgement.decision
    signals = decision.signals
    return {
        "id": question.id,
        "status": decision.status.value,
        "score": round(decision.trust.score, 6),
        "signals": {
            "source_reputation": signals.source_reputation,
            "corroboration": signals.corroboration,
            "freshness": signals.freshness,
            "contradiction": signals.contradiction,
            "content_danger": signals.content_danger,
        },
        "findings": [
            {"stage": finding.stage, "rule": finding.rule, "severity": finding.severity}
            for finding in decision.findings
        ],
        "redacted": judgement.claim.text != question.text,
    }


def _print(judgement: Judgement) -> None:
    decision = judgement.decision
    click.echo(f"{decision.status.value}   score {decision.trust.score:.3f} (raw {decision.trust.raw:.3f})")
    print_table(
        ("signal", "value", "weight", "contributes"),
        (
            (part.signal, f"{part.value:.3f}", f"{part.weight:+.2f}", f"{part.amount:+.3f}")
            for part in decision.trust.contributions
        ),
    )
    for finding in decision.findings:
        click.echo(f"{finding.severity:.2f}  {finding.rule}  {finding.detail}")
