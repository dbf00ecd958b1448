"""One call to a chat-completions endpoint: the text that the model writes, or the reason why there is none."""

from __future__ import annotations

import asyncio

import aiohttp
import openai
from openai import AsyncOpenAI, Omit, omit
from openai.types.chat import ChatCompletion

from mithril_proxy.errors import JudgeUnavailable
from mithril_proxy.judge.usage import JudgeUsage

_REFUSING = frozenset({400, 413, 422, 451})  # the endpoint answers, but not to this text: too long, filtered, forbidden


class Endpoint:
    """A model behind an OpenAI-compatible endpoint.

    Some models refuse `temperature` or `max_tokens`. Such an option is left out from then on: the deadline still bounds
    the answer, and the parser takes nothing that was cut off.
    """

    def __init__(self, client: AsyncOpenAI, *, model: str, max_answer_tokens: int) -> None:
        self._client = client
        self._model = model
        self._temperature: float | Omit = 0.0  # the same question gets the same verdict, as far as the model can
        self._max_tokens: int | Omit = max_answer_tokens

    async def answer(self, system: str, message: str, *, deadline_at: float, usage: JudgeUsage) -> str:
        """What the model writes before `deadline_at` (event loop time). Raises JudgeUnavailable, nothing else."""
        try:
            async with asyncio.timeout_at(deadline_at):
                completion = await self._complete(system, message)
        except TimeoutError:
            raise JudgeUnavailable("timeout", "no answer before the deadline") from None
        except openai.APIError as error:
            raise JudgeUnavailable(_reason(error), type(error).__name__) from None
        except ValueError as error:  # the body claims to be JSON and is not
            raise JudgeUnavailable("malformed", type(error).__name__) from None
        usage.count_tokens(completion)
        return _content(completion)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _complete(self, system: str, message: str) -> object:
        """The completion, asked for again without an option that this model refuses."""
        while True:
            try:
                return await self._request(system, message)
            except openai.BadRequestError as error:
                if not self._drops(error.param):
                    raise

    async def _request(self, system: str, message: str) -> ChatCompletion:
        return await self._client.chat.completions.create(
            model=self._model,
            messages=[{"role": "system", "content": system}, {"role": "user", "content": message}],
            temperature=self._temperature,
            max_tokens=self._max_tokens,
        )

    def _drops(self, param: str | None) -> bool:
        """True when `param` was sent so far and is left out from now on."""
        if param == "temperature" and not isinstance(self._temperature, Omit):
            self._temperature = omit
            return True
        if param == "max_tokens" and not isinstance(self._max_tokens, Omit):
            self._max_tokens = omit
            return True
        return False


def _reason(error: openai.APIError) -> str:
    """The stable word for an error of the client library."""
    match error:
        case openai.APITimeoutError():
            return "unreachable" if _is_broken_connection(error) else "timeout"
        case openai.APIConnectionError():
            return "unreachable"
        case openai.APIResponseValidationError():
            return "malformed"
        case openai.RateLimitError():
            return "rate_limited"
        case openai.APIStatusError(status_code=status) if status in _REFUSING:
            return "refused"
        case openai.APIStatusError(status_code=status) if status < 500:
            return "misconfigured"
    return "unreachable"


def _is_broken_connection(error: BaseException) -> bool:
    """True when there was no connection to wait for: the aiohttp transport of openai 3.57 calls that a timeout too."""
    cause = error.__cause__
    while cause is not None and not isinstance(cause, aiohttp.ClientConnectionError):
        cause = cause.__cause__
    return cause is not None and not isinstance(cause, TimeoutError)


def _content(completion: object) -> str:
    """The one text in a completion, however little of the shape an endpoint keeps. Raises JudgeUnavailable."""
    choices = getattr(completion, "choices", None)
    if not isinstance(choices, list) or len(choices) != 1:
        raise JudgeUnavailable("malformed", "not exactly one choice")
    finish = getattr(choices[0], "finish_reason", None)
    message = getattr(choices[0], "message", None)
    if finish == "content_filter" or getattr(message, "refusal", None):
        raise JudgeUnavailable("refused", "the model declined to judge")
    content = getattr(message, "content", None)
    if finish == "length" or not isinstance(content, str):
        raise JudgeUnavailable("malformed", "the answer was cut off or is no text")
    return content
