"""The documents of a write become text before anything is judged; what gives none stays opaque, with the reason."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from mithril_proxy.cognee.writes import WriteCall, unread_files, with_text
from mithril_proxy.errors import Refused
from mithril_proxy.extract.kinds import document_kind
from mithril_proxy.extract.process import Extractor, NoText
from mithril_proxy.extract.worker import Bounds
from mithril_proxy.policy import Policy
from mithril_proxy.secrets import SecretGuard
from mithril_proxy.types import Finding

UNREAD_SEVERITY = 0.3  # says why a claim is opaque; what becomes of opaque claims is the policy's cap


@dataclass(frozen=True, slots=True)
class DocumentReader:
    """Reads PDF, DOCX, XLSX and PPTX files, each in a process of its own, at most a few at a time."""

    extractor: Extractor
    slots: asyncio.Semaphore
    is_on: bool
    forwards_original: bool

    @classmethod
    def of(cls, policy: Policy) -> DocumentReader:
        """A reader with this policy's bounds."""
        rule = policy.documents
        bounds = Bounds(
            timeout_s=rule.timeout_s,
            memory_bytes=rule.memory_bytes,
            max_unpacked_bytes=rule.max_unpacked_bytes,
            max_pages=rule.max_pages,
            max_chars=policy.limits.max_text_chars,
        )
        return cls(Extractor(bounds), asyncio.Semaphore(rule.max_at_once), rule.read, rule.forward_original)

    async def read(self, call: WriteCall) -> tuple[WriteCall, tuple[Finding, ...]]:
        """The call with the text of its documents, and one finding for each that gave none."""
        findings: list[Finding] = []
        for piece in unread_files(call) if self.is_on else ():
            kind = document_kind(piece.filename, piece.blob or b"")
            if kind is None:
                continue
            try:
                async with self.slots:
                    text = await self.extractor.text(kind, piece.blob or b"")
            except NoText as error:
                rule = f"extract.{error.reason.replace('_', '-')}"
                findings.append(Finding("extract", rule, piece.claim_id, UNREAD_SEVERITY, f"{kind} in {piece.place}"))
                continue
            call = with_text(call, piece.claim_id, text, keeps_original=self.forwards_original)
        return call, tuple(findings)


async def refuse_leaking_files(call: WriteCall, guard: SecretGuard) -> None:
    """Return when no opaque file shows a credential in its bytes. Raises Refused (`credential_in_file`).

    An opaque file cannot be redacted, and it would wait in the database as it is.
    """
    for piece in unread_files(call):
        found = await guard.redact_async((piece.blob or b"").decode("latin-1"))
        if found.hits:
            kinds = ", ".join(sorted({hit.kind for hit in found.hits}))
            raise Refused(
                f"{piece.place}: cannot be read as text and shows what looks like a credential ({kinds}); "
                "take it out, or send the file as text",
                code="credential_in_file",
            )
