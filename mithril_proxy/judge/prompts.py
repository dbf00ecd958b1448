"""What the model is shown, built so that the judged text cannot speak to it.

1. Claim and memories stand in blocks whose tags end in a nonce that is new for every request and in none of the texts.
2. Angle brackets and code fences inside the blocks become look-alikes: no text can open, close or imitate a tag.
3. Text that speaks to its judge all the same is found by patterns, whatever the model makes of it.
4. `digest` stands for every byte of the prompts and patterns, and stands in every decision.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import re2

from mithril_proxy.clock import Clock
from mithril_proxy.errors import ConfigurationError
from mithril_proxy.policy import Policy
from mithril_proxy.types import Memory

_HARMLESS = str.maketrans({"<": "‹", ">": "›", "`": "'"})
_CUT = " […]"


@dataclass(frozen=True, slots=True)
class Prompts:
    """The wordings of a pass, most used first, and the patterns of text that speaks to its judge."""

    wordings: tuple[Template, ...]
    addressed: tuple[Any, ...]
    digest: str

    def system(self, index: int, nonce: str) -> str:
        """The instruction of pass `index`, bound to this nonce."""
        return self.wordings[index].substitute(nonce=nonce)

    def is_addressed_by(self, text: str) -> bool:
        """True when `text` speaks to its judge."""
        flat = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
        return any(pattern.search(flat) is not None for pattern in self.addressed)


def load_prompts(policy: Policy) -> Prompts:
    """The prompts that `policy` names. Raises ConfigurationError that names file and reason."""
    state = hashlib.sha256()
    texts = [_read(policy, name, state) for name in (*policy.judge.prompts, policy.judge.addressed)]
    wordings = tuple(_wording(name, text) for name, text in zip(policy.judge.prompts, texts, strict=False))
    return Prompts(wordings, _patterns(policy.judge.addressed, texts[-1]), state.hexdigest())


def fresh_nonce(clock: Clock, text: str, context: tuple[Memory, ...]) -> str:
    """A word that stands in none of the texts that will be shown."""
    nonce = clock.new_id("n")
    while nonce in text or any(nonce in memory.text for memory in context):
        nonce = clock.new_id("n")
    return nonce


def user_message(text: str, context: tuple[Memory, ...], *, nonce: str, memory_chars: int) -> str:
    """Memories and claim as blocks of data that only this nonce can close."""
    blocks = [
        f'<memory-{nonce} id="{number}">\n{_shown(memory.text, memory_chars)}\n</memory-{nonce}>'
        for number, memory in enumerate(context, start=1)
    ]
    claim = f"<claim-{nonce}>\n{neutralised(text)}\n</claim-{nonce}>"
    return "\n".join((*(blocks or ["There are no memories."]), claim))


def neutralised(text: str) -> str:
    """`text` with nothing in it that could delimit: angle brackets and backticks become look-alikes."""
    return text.encode("utf-8", "replace").decode("utf-8").translate(_HARMLESS)


def windows(text: str, *, window_chars: int, overlap_chars: int) -> tuple[str, ...]:
    """`text` in pieces of at most `window_chars` that overlap, so that no sentence is only seen cut in two."""
    if len(text) <= window_chars:
        return (text,)
    step = window_chars - overlap_chars
    return tuple(text[start : start + window_chars] for start in range(0, len(text) - overlap_chars, step))


def _shown(text: str, memory_chars: int) -> str:
    return neutralised(text if len(text) <= memory_chars else text[:memory_chars] + _CUT)


def _read(policy: Policy, name: str, state: Any) -> str:
    path: Path = policy.resolve(name)
    try:
        content = path.read_bytes()
        state.update(len(content).to_bytes(8, "big") + content)
        return content.decode("utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: is not UTF-8 (byte {error.start})") from None


def _wording(name: str, text: str) -> Template:
    wording = Template(text)
    if not wording.is_valid() or wording.get_identifiers() != ["nonce"]:
        raise ConfigurationError(f"{name}: must hold $nonce, and no other name after a dollar sign")
    return wording


def _patterns(name: str, text: str) -> tuple[Any, ...]:
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    compiled = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            compiled.append(re2.compile(line, options))
        except re2.error as error:
            raise ConfigurationError(f"{name}, line {number}: not a valid RE2 pattern: {error}") from None
    return tuple(compiled)
