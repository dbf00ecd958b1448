"""What a test may change about the model: scripted answers and faults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """The reply to every prompt that `pattern` finds; `\\1` in the reply stands for the pattern's first group."""

    pattern: re.Pattern[str]
    reply: str

    def reply_to(self, text: str) -> str | None:
        """The reply to `text`, None when the pattern is not in it."""
        match = self.pattern.search(text)
        return match.expand(self.reply) if match else None


@dataclass(frozen=True, slots=True)
class Script:
    """Answers and faults in force. `status` 0 is no fault; `malformed` sends a body that is not JSON."""

    answers: tuple[ScriptedAnswer, ...] = ()
    delay_s: float = 0.0
    status: int = 0
    embeddings_status: int = 0
    malformed: bool = False

    def reply_to(self, text: str) -> str | None:
        """The first scripted reply to `text`, None when the model is to answer itself."""
        return next((reply for answer in self.answers if (reply := answer.reply_to(text)) is not None), None)


def read_script(body: Mapping[str, Any]) -> Script:
    """The script that a control call asks for. Raises TypeError, KeyError or re.error when it is not one."""
    answers = tuple(
        ScriptedAnswer(re.compile(answer["pattern"], re.DOTALL), answer["reply"]) for answer in body.get("answers", ())
    )
    return Script(**{**body, "answers": answers})
