"""Mails of an mbox file: one record each, its subject and its plain text."""

from __future__ import annotations

import mailbox
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from email.utils import parseaddr, parsedate_to_datetime
from html.parser import HTMLParser
from pathlib import Path

from mithril_proxy.ingest.records import BadLine, Reading, Record, Skipped

UNSPOKEN = frozenset({"script", "style", "head", "title"})


def mail_readings(path: Path, filename: Callable[[int], str]) -> Iterator[Reading]:
    """Every mail of the file, in order; `filename` names the record of a number."""
    name = path.name
    try:
        box = mailbox.mbox(path, create=False)
    except (OSError, mailbox.Error) as error:
        yield BadLine(name, 0, f"cannot be read ({type(error).__name__})")
        return
    with closing(box):
        for number, key in enumerate(box.keys(), start=1):
            yield _reading(name, number, filename(number), box.get_bytes(key))


def _reading(name: str, number: int, filename: str, raw: bytes) -> Reading:
    try:
        mail = BytesParser(EmailMessage, policy=default).parsebytes(raw)
        subject, body = str(mail["subject"] or "").strip(), _body(mail).strip()
        author, address = parseaddr(str(mail["from"] or ""))
    except (LookupError, ValueError, AttributeError, TypeError) as error:  # what the parser raises on broken headers
        return BadLine(name, number, f"is no mail that can be read ({type(error).__name__})")
    text = "\n\n".join(part for part in (subject, body) if part)
    if not text:
        return Skipped(name, number)
    place = {"file": name, "from": address or author, "subject": subject}
    return Record(text, name, number, filename, _sent_at(mail), metadata=place)


def _body(mail: EmailMessage) -> str:
    """The plain text of a mail; of one that has only HTML, the text in it."""
    part = mail.get_body(preferencelist=("plain", "html"))
    content = part.get_content() if part is not None else ""
    if not isinstance(content, str):
        return ""
    return _spoken(content) if part is not None and part.get_content_subtype() == "html" else content


def _sent_at(mail: EmailMessage) -> datetime | None:
    try:
        moment = parsedate_to_datetime(str(mail["date"]))
    except (ValueError, TypeError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class _Words(HTMLParser):
    """Collects what a reader would see."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an element."""
        self._hidden += tag in UNSPOKEN

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        self._hidden = max(0, self._hidden - (tag in UNSPOKEN))

    def handle_data(self, data: str) -> None:
        """Take text that shows."""
        if not self._hidden and data.strip():
            self.words.append(" ".join(data.split()))


def _spoken(markup: str) -> str:
    parser = _Words()
    parser.feed(markup)
    parser.close()
    return "\n".join(parser.words)
