"""Accuracy and speed of the credential guard against the plain patterns, in one run, printed as Markdown.

    python benchmark/secrets/run.py --data FOLDER [--gitleaks gitleaks.toml] [--cuts N] > benchmark/secrets/RESULTS.md

FOLDER holds `*.tsv` files with a header line and the columns kind, should_match (1, 0 or ?), string (with \\n, \\t
and \\\\ escaped), origin.
A row counts as found when any credential is found in it. Kinds that begin with `other` are counted apart.
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mithril_proxy.policy import policies_folder
from mithril_proxy.secrets import SecretGuard, StreamScrubber, load_guard

PLAIN = tuple(
    re.compile(pattern)
    for pattern in (
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----",
        r"\bAKIA[0-9A-Z]{16}\b",
        r"\bgh[pousr]_[A-Za-z0-9]{36,}",
        r"\bxox[baprs]-[A-Za-z0-9-]{10,}",
        r"\bAIza[0-9A-Za-z_-]{35}",
        r"\bsk-[A-Za-z0-9_-]{20,}",
        r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
        r"\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+",
        r"[A-Za-z][A-Za-z0-9+.-]*://[^\s:/@]+:[^\s/@]+@",
        r"(?i)\bbearer\s+[A-Za-z0-9._~+/-]{16,}=*",
        r"(?i)\b(?:password|passwd|pwd|secret|token|api[_-]?key)\b\s*[:=]\s*[\"']?[^\s\"']{6,}",
    )
)
HOSTILE = {
    "a": "a",
    "eyJ": "eyJ",
    "abc.": "abc.",
    "://a:": "://a:",
    "password=": "password=",
    "password=a (spaced)": "password=a ",
    "PEM header": "-----BEGIN " + "PRIVATE KEY-----\n",
    "sk-": "sk-",
    "%41": "%41",
    "zero-width": "a\u200b",
    "%41 (tiny runs)": "%41a ",
    "unicode escape (tiny runs)": "\\u0041b ",
    "&amp; (tiny runs)": "&amp;x",
    "base64 (tiny runs)": "aGVsbG8gdGhlcmUgeW91IA ",
    "random base64 (tiny runs)": "q80Zf3kP9vQ2mZt7LwR4sN ",
    "all views mixed": "a\u200b%41\\u0041&amp;aGVsbG8gdGhlcmUgeW91IA ",
    'password="': 'password="x y ',
}
WORDS = [
    "the",
    "agent",
    "wrote",
    "that",
    "every",
    "release",
    "of",
    "this",
    "service",
    "needs",
    "a",
    "short",
    "review",
    "before",
    "it",
    "goes",
    "out",
    "and",
    "the",
    "team",
    "agreed",
    "on",
    "Tuesday",
    "because",
    "last",
    "time",
    "two",
    "people",
    "changed",
    "one",
    "table",
    "at",
    "once",
    "which",
    "nobody",
    "saw",
    "until",
    "customers",
    "called",
    "about",
    "it",
]


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled string."""

    kind: str
    label: str
    text: str


def read_rows(folder: Path) -> list[Row]:
    rows = []
    for path in sorted(folder.glob("*.tsv")):
        for line in path.read_text(encoding="utf-8").split("\n")[1:]:
            if line:
                kind, label, text, _ = line.split("\t")
                rows.append(Row(kind, label, unescaped(text)))
    return rows


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t", "r": "\r"}.get(match[1], match[1]), text)


def plain_finds(text: str) -> bool:
    return any(pattern.search(text) for pattern in PLAIN)


def plain_pass(text: str) -> None:
    for pattern in PLAIN:
        for _ in pattern.finditer(text):
            pass


def count(rows: list[Row], finds: Callable[[str], bool]) -> Counter[tuple[str, str, bool]]:
    return Counter(("other" if row.kind.startswith("other") else row.kind, row.label, finds(row.text)) for row in rows)


def detectors(guard: SecretGuard, gitleaks: Path | None) -> Iterator[tuple[str, Callable[[str], bool]]]:
    yield "plain 11 patterns", plain_finds
    yield "mithril", lambda text: bool(guard.scan(text))
    if gitleaks:
        both = load_guard([policies_folder() / "secrets.toml", gitleaks])
        alone = load_guard([gitleaks])
        yield "gitleaks.toml alone, our loader", lambda text: bool(alone.scan(text))
        yield "mithril + gitleaks.toml", lambda text: bool(both.scan(text))
    if importlib.util.find_spec("detect_secrets"):
        yield "detect-secrets", detect_secrets_finds


def detect_secrets_finds(text: str) -> bool:
    from detect_secrets.core.scan import scan_line  # a peer that need not be installed
    from detect_secrets.settings import default_settings

    with default_settings():
        return any(True for line in text.splitlines() for _ in scan_line(line))


def accuracy(rows: list[Row], guard: SecretGuard, gitleaks: Path | None) -> None:
    counted = {name: count(rows, finds) for name, finds in detectors(guard, gitleaks)}
    kinds = sorted({row.kind for row in rows if not row.kind.startswith("other")})
    print("\n## Found / false alarms on the labelled strings\n")
    print("| kind |", " | ".join(counted), "|\n| --- |", " | ".join("---" for _ in counted), "|")
    for kind in [*kinds, "other"]:
        print(f"| {kind} |", " | ".join(cell(one, (kind,)) for one in counted.values()), "|")
    print("| **11 kinds** |", " | ".join(cell(one, tuple(kinds), share=True) for one in counted.values()), "|")


def cell(counted: Counter[tuple[str, str, bool]], kinds: tuple[str, ...], *, share: bool = False) -> str:
    found, missed, alarms, quiet = (
        sum(counted[kind, label, hit] for kind in kinds)
        for label, hit in (("1", True), ("1", False), ("0", True), ("0", False))
    )
    text = f"{found} of {found + missed} / {alarms} of {alarms + quiet}"
    return f"{text} ({found / (found + missed):.1%} / {alarms / (alarms + quiet):.1%})" if share else text


def misses(rows: list[Row], guard: SecretGuard) -> None:
    wrong = Counter(
        (row.kind, "missed" if row.label == "1" else "false alarm")
        for row in rows
        if not row.kind.startswith("other") and row.label in "10" and bool(guard.scan(row.text)) != (row.label == "1")
    )
    print(
        "\nMisses and false alarms by kind:",
        ", ".join(f"{kind} {what} {n}" for (kind, what), n in sorted(wrong.items())),
    )


def streams(rows: list[Row], guard: SecretGuard, cuts: int) -> None:
    runs = leaks = differ = 0
    for row in rows:
        text = f"Note. {row.text}\nand more text follows here.\n"
        whole = guard.redact(text)
        if row.label != "1" or row.kind.startswith("other") or not whole.hits:
            continue
        values = [text[hit.start : hit.end] for hit in whole.hits]
        for at in range(0, len(text), max(1, len(text) // cuts) if cuts else 1):
            seen = in_pieces(guard, (text[:at], text[at:]))
            runs += 1
            differ += seen != whole.text
            leaks += any(leaked(value, seen, whole.text) for value in values)
    print(
        "\n## Streams\n\n"
        f"{runs} runs (each true case cut in two, at {'every' if not cuts else f'up to {cuts}'} offset): "
        f"{leaks} leaks, {runs - differ} identical to the whole-text answer."
    )


def in_pieces(guard: SecretGuard, pieces: tuple[str, ...]) -> str:
    scrubber = StreamScrubber(guard)
    return "".join((*map(scrubber.feed, pieces), scrubber.close()))


def leaked(value: str, seen: str, clean: str) -> bool:
    """True when eight characters in a row of `value` are in `seen` that the whole-text answer does not show."""
    parts = (value[start : start + 8] for start in range(max(1, len(value) - 7)))
    return any(part in seen and part not in clean for part in parts)


def prose(size: int) -> str:
    chosen = random.Random(7)
    sentences: list[str] = []
    length = 0
    while length < size:
        sentence = " ".join(chosen.choice(WORDS) for _ in range(chosen.randint(6, 18))).capitalize() + ".\n"
        sentences.append(sentence)
        length += len(sentence)
    return "".join(sentences)[:size]


def seconds(act: Callable[[], object], repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        act()
        best = min(best, time.perf_counter() - start)
    return best


def speed(guard: SecretGuard) -> None:
    megabyte = prose(1 << 20)
    small = megabyte[:2048]
    print("\n## Speed against the stdlib-`re` pass over the plain 11 patterns\n")
    print("| text | plain `re` | mithril, whole guard with views | ratio |\n| --- | --- | --- | --- |")
    for name, text, repeats in (("2 KB clean", small, 200), ("10 MB prose", megabyte * 10, 3)):
        own, other = (
            seconds(lambda t=text: guard.scan(t), repeats),
            seconds(lambda t=text: plain_pass(t), min(repeats, 50) if len(text) < 9999 else 1),
        )
        print(f"| {name} | {other * 1e6:,.0f} us | {own * 1e6:,.0f} us | {other / own:.0f} x |")


def hostile(guard: SecretGuard) -> None:
    megabyte = prose(1 << 20)
    seeded = "".join(f"{megabyte[at : at + 1000]} password=Xk29{at}zzQ\n" for at in range(0, 1 << 20, 1024))
    base = seconds(lambda: guard.scan(seeded), 2)
    print(f"\n## Hostile input, against 1 MB of prose with one secret a kilobyte ({base * 1e3:.0f} ms)\n")
    print("| input | 1 MB | x base | 8 MB | growth |\n| --- | --- | --- | --- | --- |")
    for name, seed in HOSTILE.items():
        one, eight = ((seed * (size // len(seed) + 1))[:size] for size in (1 << 20, 8 << 20))
        first, last = seconds(lambda t=one: guard.scan(t), 2), seconds(lambda t=eight: guard.scan(t), 1)
        print(f"| `{name}` | {first * 1e3:.0f} ms | {first / base:.1f} | {last * 1e3:.0f} ms | {last / first:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of labelled *.tsv files; without it only speed is measured")
    parser.add_argument("--gitleaks", type=Path, help="a stock gitleaks.toml as a second pack")
    parser.add_argument("--cuts", type=int, default=0, help="cut each case at N offsets only (default: at every one)")
    chosen = parser.parse_args()
    guard = load_guard([policies_folder() / "secrets.toml"])
    print("# Credential guard: results\n")
    said = ["--data FOLDER"] * bool(chosen.data) + ["--gitleaks gitleaks.toml"] * bool(chosen.gitleaks)
    print(
        f"`python {' '.join(['benchmark/secrets/run.py', *said, f'--cuts {chosen.cuts}'])}`, "
        f"Python {platform.python_version()}. All times are of one run on a shared machine: read the ratios."
    )
    if chosen.data:
        rows = read_rows(chosen.data)
        accuracy(rows, guard, chosen.gitleaks)
        misses(rows, guard)
        streams(rows, guard, chosen.cuts)
    speed(guard)
    hostile(guard)


if __name__ == "__main__":
    main()
