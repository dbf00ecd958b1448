"""`mithril sources` in full: keys, priors, freezing, history, and a register moved to another database."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mithril_proxy.cli import mithril
from mithril_proxy.errors import MithrilError

REASON = ("--reason", "asked for by the owner")
Call = Callable[..., Result]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COGNEE_API_KEY", raising=False)

    def run(*arguments: str, fails: str = "", stdin: str | None = None, database: str = "one.db") -> Result:
        given = (
            [*arguments]
            if arguments[0] == "add-credential"
            else [*arguments, "--database", f"sqlite+aiosqlite:///{database}"]
        )
        done = CliRunner().invoke(mithril, ["sources", *given], input=stdin)
        if fails:
            assert done.exit_code != 0, done.output
            assert fails in f"{done.exception} {done.output}"
        else:
            assert done.exit_code == 0, f"{done.output} {done.exception!r}"
        return done

    return run


def added(call: Call, name: str = "docs-bot", *more: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(call("add", name, "--prior", "0.9", "--json", *more).stdout)
    return found


def shown(call: Call, name: str = "docs-bot", **more: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(call("show", name, "--json", **more).stdout)
    return found


@pytest.mark.parametrize("way", ["key", "digest", "beginning"])
def test_a_key_is_revoked_by_itself_its_digest_or_the_beginning_of_it(call: Call, way: str) -> None:
    key = added(call)["key"]
    second = added(call)["key"]
    digest = hashlib.sha256(key.encode()).hexdigest()
    assert digest[:12] in call("keys", "docs-bot").stdout.split()
    done = call("revoke-key", {"key": key, "digest": digest, "beginning": digest[:12]}[way], *REASON)
    assert "1 keys left" in done.stdout
    assert key not in done.stdout
    left = json.loads(call("keys", "docs-bot", "--json").stdout)
    assert left["sha256"] == hashlib.sha256(second.encode()).hexdigest()
    call("revoke-key", key, *REASON, fails="no live key")


def test_too_short_a_beginning_names_no_key(call: Call) -> None:
    added(call)
    digest = call("keys", "docs-bot").stdout.strip()
    call("revoke-key", digest[:4], *REASON, fails="give 12 digits or more")
    call("revoke-key", "0" * 13, *REASON, fails="0 live keys begin")


def test_a_cognee_key_becomes_a_policy_entry_that_holds_its_digest_only(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    credential = "cognee-" + "client-key"
    printed = call("add-credential", "ci-pipeline", "--prior", "0.8", stdin=credential + "\n").stdout
    (entry,) = tomllib.loads(printed)["principals"]
    digest = hashlib.sha256(credential.encode()).hexdigest()
    assert entry == {"name": "ci-pipeline", "prior": 0.8, "credential_sha256": [digest]}
    monkeypatch.setenv("COGNEE_API_KEY", credential)
    assert digest in call("add-credential", "ci-pipeline").stdout
    monkeypatch.setenv("COGNEE_API_KEY", "")
    call("add-credential", "ci-pipeline", stdin="", fails="no credential")
    call("add-credential", "ci-pipeline", stdin="mk_x", fails="is a Mithril key")
    call("add-credential", "verified", stdin=credential, fails="reserved")


def test_a_prior_changes_and_the_reputation_stays_until_it_is_reset(call: Call) -> None:
    added(call)
    call("set-prior", "docs-bot", "0.5", *REASON)
    assert (shown(call)["prior"], shown(call)["reputation"]) == (0.5, 0.9)
    call("reset", "docs-bot", *REASON)
    assert shown(call)["reputation"] == 0.5
    call("set-prior", "nobody", "0.5", *REASON, fails="no source")


def test_what_may_be_declared_is_replaced_as_a_whole(call: Call) -> None:
    added(call, "docs-bot", "--may-declare", "wiki")
    assert "may declare faq, help" in call("may-declare", "docs-bot", "faq", "help", *REASON).stdout
    assert shown(call)["may_declare"] == ["faq", "help"]
    assert "nobody else" in call("may-declare", "docs-bot", *REASON).stdout
    call("may-declare", "docs-bot", "verified", *REASON, fails="reserved")
    call("may-declare", "nobody", *REASON, fails="no source")


def test_a_source_is_frozen_and_thawed_once(call: Call) -> None:
    added(call)
    call("freeze", "docs-bot", *REASON)
    assert shown(call)["is_frozen"] is True
    call("freeze", "docs-bot", *REASON, fails="frozen already")
    call("thaw", "docs-bot", *REASON)
    call("thaw", "docs-bot", *REASON, fails="thawed already")


def test_every_change_needs_a_reason(call: Call) -> None:
    added(call)
    for command in (("freeze", "docs-bot"), ("set-prior", "docs-bot", "0.5"), ("revoke-key", "x")):
        call(*command, fails="--reason")
        call(*command, "--reason", " ", fails="must say why")


def test_the_history_is_paged_newest_first(call: Call) -> None:
    added(call)
    for value in ("0.5", "0.6", "0.7"):
        call("reset", "docs-bot", "--reputation", value, *REASON)
    first = [json.loads(line) for line in call("history", "docs-bot", "--limit", "2", "--json").stdout.splitlines()]
    assert [event["after"] for event in first] == [0.7, 0.6]
    rest = call("history", "docs-bot", "--before", str(first[-1]["id"]), "--json").stdout
    assert json.loads(rest)["after"] == 0.5
    assert "asked for by the owner" in call("history", "docs-bot").stdout
    call("history", "nobody", fails="no source")


def test_a_register_moves_to_another_database_with_its_keys_and_without_reputations(call: Call, tmp_path: Path) -> None:
    added(call, "docs-bot", "--may-declare", "wiki")
    call("reset", "docs-bot", "--reputation", "0.1", *REASON)
    call("freeze", "docs-bot", *REASON)
    added(call, "chat-bot")
    (tmp_path / "register.jsonl").write_text(call("export").stdout)
    assert "2 sources" in call("import", "register.jsonl", database="two.db").stdout
    moved = shown(call, database="two.db")
    assert (moved["prior"], moved["reputation"], moved["may_declare"]) == (0.9, 0.9, ["wiki"])
    assert (moved["keys"], moved["is_frozen"]) == (1, True)
    again = call("import", "-", stdin=(tmp_path / "register.jsonl").read_text(), database="two.db")
    assert "2 sources" in again.stdout
    assert shown(call, database="two.db")["keys"] == 1
    assert call("keys", "docs-bot").stdout == call("keys", "docs-bot", database="two.db").stdout


def test_a_key_of_another_source_cannot_be_imported_and_a_revoked_one_stays_revoked(call: Call) -> None:
    key = added(call)["key"]
    line = json.loads(call("export").stdout)
    call("import", "-", stdin=json.dumps({**line, "name": "thief"}), fails="belongs to 'docs-bot'")
    call("revoke-key", key, *REASON)
    call("import", "-", stdin=json.dumps(line))
    assert shown(call)["keys"] == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2"),
        ('{"name": "a"}', "line 2: prior"),
        ('{"name": "a", "prior": 2}', "line 2: prior"),
        ('{"name": "a", "prior": 0.5, "reputation": 1}', "line 2: reputation"),
        ('{"name": "a", "prior": 0.5, "key_digests": ["mk_x"]}', "line 2: key_digests.0"),
        ('{"name": "Verified", "prior": 0.5}', "line 2:"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_is_taken(call: Call, line: str, said: str) -> None:
    call("import", "-", stdin=f'{{"name": "fine", "prior": 0.5}}\n{line}\n', fails=said)
    call("show", "fine", fails="no source")


def test_failures_are_mithrils_own_errors(call: Call) -> None:
    assert isinstance(call("keys", "nobody", fails="no source").exception, MithrilError)
