"""The server's side: one short-lived process a document, with an empty environment, killed when its time is up."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mithril_proxy.errors import MithrilError
from mithril_proxy.extract.kinds import Kind
from mithril_proxy.extract.worker import Bounds

# The package's own folder is put on the path by hand: -I keeps the environment and the current folder out.
_START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from mithril_proxy.extract.worker import main; main()"
_ROOT = str(Path(__file__).resolve().parents[2])


class NoText(MithrilError):
    """The document gave no text.

    `reason` is encrypted, no_text, too_large, too_long, too_many_pages, timeout or unreadable.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"the document could not be read: {reason}")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Extractor:
    """Reads documents, each in a process of its own. The caller bounds how many at once."""

    bounds: Bounds

    async def text(self, kind: Kind, content: bytes) -> str:
        """The text of a document. Raises NoText."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-c", _START, _ROOT, kind.value, self.bounds.to_json(),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, env={},
        )  # fmt: skip
        try:
            async with asyncio.timeout(self.bounds.timeout_s):
                output, _ = await process.communicate(content)
        except TimeoutError:
            raise NoText("timeout") from None
        finally:
            await _end(process)
        return _text(process.returncode, output)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Leave no process behind, also when the caller was cancelled."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _text(returncode: int | None, output: bytes) -> str:
    try:
        answer = json.loads(output) if returncode == 0 else {}
    except ValueError:
        answer = {}
    if "text" not in answer:
        raise NoText(str(answer.get("reason", "unreadable")))
    return str(answer["text"])
