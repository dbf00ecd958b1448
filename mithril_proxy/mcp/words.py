"""What a decision means, in words that an agent can act on. Pure; never holds claim text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

ADVICE: tuple[tuple[str, str], ...] = (
    ("redact.unavailable", "The credential guard failed; send the text again later."),
    (
        "judge.unavailable",
        "The judge was down. The claim is judged again by itself when it is back; do not send it again.",
    ),
    (
        "probe.unavailable",
        "Memory could not be asked. The claim is judged again by itself; do not send it again.",
    ),
    ("redact.", "The text held a credential, which was removed for good. Never put credentials into memory."),
    ("provenance.forged-tag", "Leave out tags that only Mithril may set (verified, low_confidence, names of sources)."),
    ("provenance.undeclarable-source", "This key may not write in the name of another source."),
    ("claim.opaque", "The content cannot be read as text; a person has to look at it."),
    ("judge.addressed", "The text speaks to its judge. State the fact and nothing else."),
    (
        "judge.contradict",
        "Verified memory says otherwise. Recall what it says, check your source, and correct the fact.",
    ),
    ("contradiction.", "Verified memory says otherwise. Recall what it says, check your source, and correct the fact."),
    (
        "danger.",
        "The text reads like an instruction to whoever recalls it. State facts, not what readers should do.",
    ),
    (
        "judge.",
        "The judge objects to the content. State plain facts, without instructions or claims of authority.",
    ),
    (
        "score.below-threshold",
        "This source has too little standing for a claim that nothing else supports. An operator can release it.",
    ),
)
OUTCOMES: Mapping[str, str] = {
    "accept": "It was stored as verified memory.",
    "warn": "It was stored as verified memory, marked low_confidence.",
    "review": "It was held for a person to review and is not in memory.",
    "quarantine": "It was quarantined as suspect and is not in memory.",
    "reject": "It was rejected and is not in memory.",
}
REVIEWS: Mapping[str, str] = {
    "released": "A reviewer has released it since: it is in memory now.",
    "rejected": "A reviewer has rejected it since.",
    "expired": "Nobody reviewed it in time; it expired.",
}


def advice_for(rules: Iterable[str]) -> list[str]:
    """What to do about these findings, each piece of advice once, in their order."""
    found = (next((words for prefix, words in ADVICE if rule.startswith(prefix)), None) for rule in rules)
    return list(dict.fromkeys(words for words in found if words is not None))


def explained(decision: Mapping[str, Any]) -> str:
    """Why a decision came out as it did: one sentence for the outcome, one for the score, one for the findings."""
    sentences = [OUTCOMES[decision["status"]], _score(decision)]
    reasons = ", ".join(decision["reasons"])
    if reasons:
        sentences.append(f"What spoke against it: {reasons}.")
    return " ".join(sentences)


def _score(decision: Mapping[str, Any]) -> str:
    amounts = [
        f"{signal.replace('_', ' ')} {value * weight:+.3f}"
        for signal, value, weight in decision["contributions"]
        if value * weight
    ]
    return f"Its score was {decision['score']:.3f} ({', '.join(amounts) or 'no signal'})."
