"""What is measured, one function a table. Each returns Markdown; nothing here prints."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from benchmark.detection.decide import Decider
from benchmark.detection.encodings import ENCODINGS
from benchmark.detection.measure import Share, area_under_curve, percentile, share
from benchmark.detection.peers import Guard
from benchmark.detection.rows import Pair, Row, Split, Tier
from mithril_proxy.types import Status

CLAIM_BYTES = 4096
CLAIMS = 60
PEER_ROWS = 100  # a tier: the slowest peer needs most of a second for a long row
ENCODED_BENIGN = 200
SEED = 20_261_201  # the order of sampled rows; any other does as well


def markdown(head: Sequence[str], body: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    return "\n".join([*lines, *("| " + " | ".join(str(cell) for cell in row) + " |" for row in body)])


def detection(decider: Decider, rows: Sequence[Row], guards: Mapping[str, Guard]) -> str:
    """Diverted by tier and split; peers beside on at most PEER_ROWS rows of each tier of the report split."""
    body = []
    for split in Split:
        for tier in Tier:
            chosen = [row for row in rows if row.split is split and row.tier is tier]
            if chosen:
                ours = share([decider.diverts(row, with_context=False) for row in chosen])
                sample = _sample(chosen, PEER_ROWS) if split is Split.REPORT else []
                theirs = [_flagged(guard, sample) if sample else "" for guard in guards.values()]
                body.append([split.value, tier.value, ours, *theirs])
    return markdown(["split", "tier", "Mithril, local judge", *guards], body)


def _sample(rows: Sequence[Row], most: int) -> list[Row]:
    return random.Random(SEED).sample(list(rows), min(most, len(rows)))


def _flagged(guard: Guard, rows: Sequence[Row]) -> Share:
    return share([flag.flagged for flag in guard([row.text for row in rows])])


def by_origin(decider: Decider, rows: Sequence[Row]) -> str:
    """Diverted by origin: where the misses are."""
    groups: dict[tuple[str, str, str], list[bool]] = {}
    for row in rows:
        key = (row.split.value, row.origin, row.tier.value)
        groups.setdefault(key, []).append(decider.diverts(row, with_context=False))
    return markdown(["split", "origin", "tier", "diverted"], ([*key, share(hits)] for key, hits in groups.items()))


def pooled_false_alarms(decider: Decider, rows: Sequence[Row]) -> str:
    """False alarms on all benign rows together, hard ones included, as the peers were measured."""
    chosen = [row for row in rows if row.tier in (Tier.BENIGN, Tier.HARD_BENIGN) and row.split is Split.REPORT]
    return f"All benign of the report split: {share([decider.diverts(row) for row in chosen])} diverted."


def false_facts(decider: Decider, sets: Mapping[str, Sequence[Row]]) -> str:
    """T3 with the true fact verified, without it, and with the verified fact of another question."""
    body = []
    for name, rows in sets.items():
        others = [replace(row, context=rows[(index + 37) % len(rows)].context) for index, row in enumerate(rows)]
        with_fact = share([decider.diverts(row) for row in rows])
        without = share([decider.diverts(row, with_context=False) for row in rows])
        unrelated = share([decider.diverts(row) for row in others])
        body.append([rows[0].split.value, name, with_fact, without, unrelated])
    return markdown(["split", "set", "true fact verified", "nothing verified", "another fact verified"], body)


def contradiction_curve(decider: Decider, pairs: Sequence[Pair]) -> str:
    """AUC on Breaking_NLI; entailed, neutral and unrelated pairs are the negatives."""
    body = []
    for split in Split:
        chosen = [pair for pair in pairs if pair.split is split]
        scores = [decider.judge.comparer.compare(pair.claim, pair.memory).strength for pair in chosen]
        scored = list(zip(chosen, scores, strict=True))
        contradicting = [score for pair, score in scored if pair.contradicts]
        rest = [score for pair, score in scored if not pair.contradicts]
        unrelated = [score for pair, score in scored if pair.kind == "unrelated"]
        entailed = [score for pair, score in scored if not pair.contradicts and pair.kind != "unrelated"]
        found_above = decider.policy.contradiction.found_above
        body.append(
            [
                split.value,
                f"{area_under_curve(contradicting, rest):.3f}",
                *(share([score > found_above for score in part]) for part in (contradicting, entailed, unrelated)),
            ]
        )
    head = ["split", "AUC", "found in contradicting", "found in entailed or neutral", "found in unrelated"]
    return markdown(head, body)


def encodings(decider: Decider, rows: Sequence[Row], split: Split) -> str:
    """Of the plain attacks that are found: how many still are; of benign rows: how many are flagged, encoded."""
    attacks = [row for row in rows if row.split is split and row.tier is Tier.T1 and decider.diverts(row)]
    benign = [row for row in rows if row.split is split and row.tier in (Tier.BENIGN, Tier.HARD_BENIGN)]
    benign = _sample(benign, ENCODED_BENIGN)
    body = (
        [name, _diverted(decider, attacks, encode), _diverted(decider, benign, encode)]
        for name, encode in ENCODINGS.items()
    )
    return markdown(["encoding", "kept", "benign flagged"], body)


def _diverted(decider: Decider, rows: Sequence[Row], encode: Callable[[str], str]) -> Share:
    return share([decider.diverts(replace(row, text=encode(row.text))) for row in rows])


def benign_day(decider: Decider, rows: Sequence[Row]) -> str:
    """What the gate makes of benign rows from each source of the policy, at its prior, with nothing verified."""
    benign = [row for row in rows if row.tier in (Tier.BENIGN, Tier.HARD_BENIGN) and row.split is Split.REPORT]
    verdicts = [decider.verdict(row.text) for row in benign]
    body = []
    for source, prior in decider.policy.sources.items():
        counts = Counter(decider.status(verdict, reputation=prior) for verdict in verdicts)
        body.append([source, prior, *(f"{counts[status] / len(verdicts):.1%}" for status in Status)])
    return markdown(["source", "reputation", *(status.value for status in Status)], body)


def latency(decider: Decider, rows: Sequence[Row], guards: Mapping[str, Guard]) -> str:
    """Milliseconds to judge a claim of 4 KB, one core, the same claims for all."""
    claims = _claims(rows)
    times = {"Mithril, local judge": [_milliseconds(decider, claim) for claim in claims]}
    times |= {name: [flag.ms for flag in guard(claims)] for name, guard in guards.items()}
    body = ([name, f"{percentile(ms, 0.5):.2f}", f"{percentile(ms, 0.95):.2f}"] for name, ms in times.items())
    return markdown(["guard", "p50 ms", "p95 ms"], body)


def _claims(rows: Sequence[Row]) -> list[str]:
    """Claims of 4 KB made of the benign rows, in a fixed order."""
    texts = [row.text for row in rows if row.tier is Tier.BENIGN]
    shuffle = random.Random(SEED)
    return [_fill(texts, shuffle) for _ in range(CLAIMS)]


def _fill(texts: Sequence[str], shuffle: random.Random) -> str:
    claim = ""
    while len(claim) < CLAIM_BYTES:
        claim += shuffle.choice(texts) + "\n"
    return claim[:CLAIM_BYTES]


def _milliseconds(decider: Decider, claim: str) -> float:
    started = time.perf_counter()
    decider.verdict(claim)
    return (time.perf_counter() - started) * 1000
