"""`mithril check`: is everything as it should be, and what to do where it is not."""

from __future__ import annotations

import enum
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass

import click

from mithril_proxy.app import load_rules, rule_problems
from mithril_proxy.cli.output import json_option, print_json, runs_async
from mithril_proxy.clock import SystemClock
from mithril_proxy.errors import ConfigurationError, JudgeUnavailable, MithrilError, StoreUnavailable
from mithril_proxy.policy import Policy, load_policy
from mithril_proxy.proxy.posture import Observation, observe_upstream
from mithril_proxy.proxy.upstream import AiohttpUpstream
from mithril_proxy.settings import Settings, load_settings
from mithril_proxy.store import open_store


class Verdict(enum.StrEnum):
    """How one check came out."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report. `advice` says what to do, empty when nothing is to be done."""

    name: str
    verdict: Verdict
    detail: str
    advice: str = ""


@click.command()
@click.option("--upstream", "upstream_url", metavar="URL", help="The Cognee server (default: MITHRIL_UPSTREAM_URL).")
@click.option("--policy", metavar="FILE", help="Policy file or the name of a shipped one.")
@click.option("--database", "database_url", metavar="URL", help="Database (default: MITHRIL_DATABASE_URL).")
@json_option
@runs_async
async def check(upstream_url: str | None, policy: str | None, database_url: str | None, as_json: bool) -> None:
    """Check policy, database, upstream and judge. Each line is ok, warn or fail, with what to do.

    Exit code 0 when nothing fails (warnings are allowed), 1 when something does.
    """
    settings = load_settings(upstream_url=upstream_url, policy=policy, database_url=database_url)
    failed = False
    async for line in checks(settings):
        failed = failed or line.verdict is Verdict.FAIL
        if as_json:
            print_json(line)
            continue
        click.echo(f"{line.verdict.value:4}  {line.name}: {line.detail}")
        if line.advice:
            click.echo(f"      → {line.advice}")
    if failed:
        sys.exit(1)


async def checks(settings: Settings) -> AsyncIterator[Check]:
    """Every check, in the order in which a fault hides the next."""
    try:
        policy = load_policy(settings.policy)
        problems = rule_problems(policy, settings)
    except ConfigurationError as error:
        yield Check("policy", Verdict.FAIL, str(error), "correct the file; `mithril policy check FILE` tests it alone")
        return
    yield _policy_check(policy, problems)
    yield await _database_check(settings)
    for observation in await _upstream_checks(settings):
        yield Check("upstream", Verdict(observation.verdict), observation.detail, observation.advice)
    yield await _judge_check(settings)


def _policy_check(policy: Policy, problems: tuple[str, ...]) -> Check:
    if problems:
        return Check(
            "policy",
            Verdict.FAIL,
            f"{len(problems)} rule examples fail: {problems[0]}",
            "correct the rule or its example",
        )
    detail = f"{policy.name}, mode {policy.mode.value}, digest {policy.digest[:12]}"
    if policy.mode.value != "enforce":
        return Check("policy", Verdict.WARN, detail, 'nothing is held back; set mode = "enforce" to protect memory')
    return Check("policy", Verdict.OK, detail)


async def _database_check(settings: Settings) -> Check:
    try:
        store = await open_store(settings.database_url, SystemClock())
    except (StoreUnavailable, ConfigurationError) as error:
        return Check(
            "database", Verdict.FAIL, str(error), "check MITHRIL_DATABASE_URL, the folder's rights and free space"
        )
    try:
        await store.ping()
        report = await store.verify_audit()
    except StoreUnavailable as error:
        return Check("database", Verdict.FAIL, str(error), "check the folder's rights and free space")
    finally:
        await store.close()
    if not report.is_intact:
        return Check(
            "database",
            Verdict.FAIL,
            f"the audit was changed: {report.broken}",
            "keep the file as evidence and restore a backup",
        )
    return Check("database", Verdict.OK, f"{settings.database_url}, {report.rows} audit rows, chains intact")


async def _upstream_checks(settings: Settings) -> tuple[Observation, ...]:
    upstream = AiohttpUpstream(settings.upstream_url, settings.connect_timeout_s, 30.0)
    service_key = settings.upstream_api_key.get_secret_value() if settings.upstream_api_key else None
    try:
        return await observe_upstream(upstream, settings.upstream_url, service_key)
    finally:
        await upstream.close()


async def _judge_check(settings: Settings) -> Check:
    name = settings.effective_judge
    try:
        judge = load_rules(settings, SystemClock()).judge
        verdict = await judge.judge("The office opens at nine.", ())
    except JudgeUnavailable as error:
        advice = "check MITHRIL_LLM_BASE_URL, _API_KEY and _MODEL; until then writes are held for review"
        return Check("judge", Verdict.FAIL, f"{name}: {error}", advice)
    except MithrilError as error:
        return Check("judge", Verdict.FAIL, f"{name}: {error}", "correct the setting that the message names")
    return Check("judge", Verdict.OK, f"{name} ({verdict.model})")
