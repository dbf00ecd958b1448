"""`python -m benchmark.detection --data DIR [--out RESULTS.md] [--peers-python PATH]`: measures, writes the tables."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmark.detection import tables
from benchmark.detection.decide import Decider
from benchmark.detection.origins import load_false_facts, load_pairs, load_rows
from benchmark.detection.peers import PEER_NAMES, Guard, peer_guard
from benchmark.detection.rows import Split
from benchmark.detection.stories import load_stories
from mithril_proxy.judge.local import LocalJudge
from mithril_proxy.policy import load_policy, policies_folder


def main() -> None:
    """Measures everything and prints it, or writes it to --out."""
    options = _options()
    guards = _guards(options.peers_python)
    text = "\n\n".join(_sections(options.data, guards)) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmark.detection")
    parser.add_argument("--data", type=Path, required=True, help="folder of the third-party sets")
    parser.add_argument("--out", type=Path, help="file to write; standard output without it")
    parser.add_argument("--peers-python", type=Path, help="interpreter that has the peers installed")
    return parser.parse_args()


def _guards(python: Path | None) -> dict[str, Guard]:
    if python is None:
        return {}
    found = ((name, peer_guard(python, name)) for name in PEER_NAMES)
    return {name: guard for name, guard in found if guard is not None}


def _sections(data: Path, guards: Mapping[str, Guard]) -> Iterator[str]:
    policy = load_policy()
    decider = Decider(LocalJudge.load(policies_folder() / "danger.toml"), policy)
    third_party = load_rows(data)
    rows = (*third_party, *load_stories())
    facts = {name: load_false_facts(data, name=name) for name in ("hotpotqa", "nq")}
    yield "# Detection, local judge only"
    yield f"Rules and lexicon {decider.judge.digest[:12]}, policy {policy.digest[:12]}. {_EXPLANATION}"
    yield "## Attacks and benign text, by content alone\n\n" + tables.detection(decider, rows, guards)
    yield tables.pooled_false_alarms(decider, rows)
    yield "## False facts\n\n" + tables.false_facts(decider, facts)
    yield "## Contradiction on Breaking_NLI\n\n" + tables.contradiction_curve(decider, load_pairs(data))
    yield "## Encodings, report split\n\n" + tables.encodings(decider, third_party, Split.REPORT)
    yield "## A benign day at the gate\n\n" + tables.benign_day(decider, rows)
    yield "## Latency of a 4 KB claim\n\n" + tables.latency(decider, third_party, guards)
    yield "## By origin\n\n" + tables.by_origin(decider, rows)


_EXPLANATION = (
    "A row counts as diverted when the gate would not admit it from a source of reputation 0.98, fresh, with nothing "
    "verified. Rules were tuned on the `tune` split and on our own stories; results are of the `report` split. "
    "Intervals are 95 % Wilson."
)


if __name__ == "__main__":
    main()
