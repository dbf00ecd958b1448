"""The judge that asks a language model, over any endpoint that speaks OpenAI's chat completions.

1. One pass scores contradiction and danger and relates every memory; a borderline one is repeated in other words, and
   two passes that disagree are a finding.
2. No answer, or none that `parse_verdict` takes, is JudgeUnavailable with a stable reason. There is no default verdict.
3. `deadline_s` covers everything one claim causes: waiting for a slot, retries, both passes, all windows.
4. Only an endpoint that does not answer counts against the circuit: a text that a model refuses harms nobody else.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from openai import AsyncOpenAI, DefaultAioHttpClient

from mithril_proxy.clock import Clock
from mithril_proxy.errors import JudgeUnavailable
from mithril_proxy.judge.answer import Answer, parse_verdict
from mithril_proxy.judge.borderline import borders_of
from mithril_proxy.judge.breaker import CircuitBreaker
from mithril_proxy.judge.completion import Endpoint
from mithril_proxy.judge.flight import SharedVerdicts
from mithril_proxy.judge.prompts import Prompts, fresh_nonce, user_message, windows
from mithril_proxy.judge.usage import JudgeUsage
from mithril_proxy.judge.verdicts import both, either, worse
from mithril_proxy.policy import JudgeRule, Policy
from mithril_proxy.types import Finding, Memory, Verdict

SILENCE = frozenset({"timeout", "unreachable", "rate_limited", "misconfigured"})  # reasons that open the circuit
OVERLAP_CHARS = 400  # two or three sentences: an instruction is seen whole in one of two windows


@dataclass(frozen=True, slots=True)
class _Question:
    """What one claim asks, with the time on the event loop's clock when its answer is too late."""

    text: str
    context: tuple[Memory, ...]
    deadline_at: float


def connect(rule: JudgeRule, *, base_url: str | None, api_key: str) -> AsyncOpenAI:
    """A client of the endpoint at `base_url` (None: OpenAI's own). Close it with `await client.close()`."""
    return AsyncOpenAI(
        base_url=base_url,
        api_key=api_key,
        timeout=rule.deadline_s,
        max_retries=rule.retries,
        http_client=DefaultAioHttpClient(),  # 1.6 times the calls a second of the default client, measured on loopback
    )


class OpenAIJudge:
    """Judges claims by asking a model. One per process: it owns the circuit, the slots and the kept verdicts."""

    name = "openai"

    def __init__(self, client: AsyncOpenAI, *, model: str, prompts: Prompts, policy: Policy, clock: Clock) -> None:
        rule = policy.judge
        self.usage = JudgeUsage(rule.input_price, rule.output_price)
        self.breaker = CircuitBreaker(clock, failures_to_open=rule.breaker_failures, reset_s=rule.breaker_reset_s)
        self.model = model
        self._endpoint = Endpoint(client, model=model, max_answer_tokens=rule.max_answer_tokens)
        self._prompts = prompts
        self._rule = rule
        self._borders = borders_of(policy)
        self._clock = clock
        self._slots = asyncio.Semaphore(rule.max_concurrency)
        self._shared = SharedVerdicts(clock, self.usage, entries=rule.cache_entries, keep_s=rule.cache_s)

    async def judge(self, text: str, context: tuple[Memory, ...]) -> Verdict:
        """Contradiction and danger of `text`, each 0..1. Raises JudgeUnavailable, nothing else."""
        self.usage.judged += 1
        try:
            return await self._shared.verdict(self._key(text, context), lambda: self._judge(text, context))
        except JudgeUnavailable as error:
            self.usage.unavailable[error.reason] += 1
            raise

    async def close(self) -> None:
        """Close the connections to the endpoint."""
        await self._endpoint.close()

    def _key(self, text: str, context: tuple[Memory, ...]) -> str:
        state = hashlib.sha256()
        for part in (self.model, self._prompts.digest, text, *(memory.text for memory in context)):
            encoded = part.encode("utf-8", "surrogatepass")
            state.update(len(encoded).to_bytes(8, "big") + encoded)
        return state.hexdigest()

    async def _judge(self, text: str, context: tuple[Memory, ...]) -> Verdict:
        rule = self._rule
        pieces = windows(text, window_chars=rule.window_chars, overlap_chars=min(OVERLAP_CHARS, rule.window_chars // 2))
        if len(pieces) > rule.max_windows:
            raise JudgeUnavailable("too_long", f"{len(pieces)} windows, {rule.max_windows} are judged")
        deadline_at = asyncio.get_running_loop().time() + rule.deadline_s
        questions = [_Question(piece, context, deadline_at) for piece in pieces]
        outcomes = await asyncio.gather(*(self._window(question) for question in questions), return_exceptions=True)
        verdict = _united(outcomes)
        if self._prompts.is_addressed_by(text):
            addressed = Finding("contradiction", "judge.addressed", "", 0.6, "the text speaks to its judge")
            verdict = worse(verdict, Verdict(0.0, 0.0, findings=(addressed,), model=self.model), either)
        return verdict

    async def _window(self, question: _Question) -> Verdict:
        """The verdict on one window: one pass, and a second one in other words when the first is borderline."""
        first = await self._pass(0, question)
        judged = self._verdict(first)
        if len(self._prompts.wordings) == 1 or not self._borders.is_borderline(first):
            return judged
        self.usage.second_passes += 1
        try:
            second = await self._pass(1, question)
        except JudgeUnavailable as error:
            raise JudgeUnavailable(error.reason, "second pass", partial=judged) from None
        return worse(judged, self._verdict(second, *self._disagreement(first, second)), both)

    def _disagreement(self, first: Answer, second: Answer) -> tuple[Finding, ...]:
        if not self._borders.disagree(first, second):
            return ()
        self.usage.disagreements += 1
        detail = f"contradiction {first.contradiction:.2f}/{second.contradiction:.2f}, "
        detail += f"danger {first.content_danger:.2f}/{second.content_danger:.2f}"
        return (Finding("contradiction", "judge.disagreement", "", 0.5, detail),)

    def _verdict(self, answer: Answer, *findings: Finding) -> Verdict:
        return Verdict(
            contradiction=answer.contradiction if answer.relations else 0.0,  # without memories nothing is contradicted
            content_danger=answer.content_danger,
            relations=answer.relations,
            findings=findings,
            model=self.model,
            prompt_digest=self._prompts.digest,
        )

    async def _pass(self, index: int, question: _Question) -> Answer:
        """The model's answer to one wording, when a slot is free. The second wording sees the memories in reverse."""
        shown = question.context[::-1] if index else question.context
        nonce = fresh_nonce(self._clock, question.text, shown)
        message = user_message(question.text, shown, nonce=nonce, memory_chars=self._rule.memory_chars)
        try:
            async with asyncio.timeout_at(question.deadline_at):
                await self._slots.acquire()
        except TimeoutError:
            raise JudgeUnavailable("timeout", "no free slot before the deadline") from None
        try:
            content = await self._answer(self._prompts.system(index, nonce), message, question.deadline_at)
        finally:
            self._slots.release()
        answer = parse_verdict(content, nonce=nonce, chunks=len(shown))
        relations = answer.relations[::-1] if index else answer.relations
        return Answer(answer.contradiction, answer.content_danger, relations)

    async def _answer(self, system: str, message: str, deadline_at: float) -> str:
        """What the model writes. Raises JudgeUnavailable; the circuit learns whether the endpoint answered."""
        ticket = self.breaker.admit()
        if ticket is None:
            raise JudgeUnavailable("circuit_open", "the endpoint failed several times in a row")
        self.usage.passes += 1
        report = self.breaker.abandoned
        try:
            content = await self._endpoint.answer(system, message, deadline_at=deadline_at, usage=self.usage)
            report = self.breaker.succeeded
        except JudgeUnavailable as error:
            report = self.breaker.failed if error.reason in SILENCE else self.breaker.succeeded
            raise
        finally:
            report(ticket)
        return content


def _united(outcomes: Sequence[Verdict | BaseException]) -> Verdict:
    """One verdict of all windows. Raises the first failure, with what the other windows said."""
    verdicts = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
    failures = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    partial = [error.partial for error in failures if isinstance(error, JudgeUnavailable) and error.partial]
    known = _worst_of(verdicts + partial)
    for failure in failures:
        if isinstance(failure, JudgeUnavailable):
            raise JudgeUnavailable(failure.reason, str(failure), partial=known)
        raise failure
    assert known is not None
    return known


def _worst_of(verdicts: Sequence[Verdict]) -> Verdict | None:
    worst: Verdict | None = None
    for verdict in verdicts:
        worst = verdict if worst is None else worse(worst, verdict, either)
    return worst
