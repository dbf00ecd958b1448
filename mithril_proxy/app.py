"""The one composition root: everything is constructed here and nowhere else."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp
from structlog.typing import FilteringBoundLogger

from mithril_proxy.admin import Gatekeeper, Operations, build_admin, new_token, token_digest
from mithril_proxy.chain import build_chain, build_dry_chain
from mithril_proxy.chain.recent import RecentWrites
from mithril_proxy.chain.reputation_rule import reputation_step
from mithril_proxy.clock import Clock, SystemClock
from mithril_proxy.errors import ConfigurationError
from mithril_proxy.firewall import Firewall
from mithril_proxy.ingest.sources import OperatorIdentifier
from mithril_proxy.judge.danger import DangerRules, check_rules
from mithril_proxy.judge.floor import FlooredJudge
from mithril_proxy.judge.local import LocalJudge
from mithril_proxy.judge.openai import OpenAIJudge, connect
from mithril_proxy.judge.prompts import load_prompts
from mithril_proxy.outputs.deliver import Delivery
from mithril_proxy.outputs.receiver import Receiver
from mithril_proxy.outputs.syslog import Syslog, parse_target
from mithril_proxy.outputs.webhook import ANSWER_S, CONNECT_S, Webhook, parse_address
from mithril_proxy.policy import Policy, load_policy
from mithril_proxy.proxy import DataPlane, Services
from mithril_proxy.proxy.documents import DocumentReader
from mithril_proxy.proxy.headers import rebuilt_request_headers
from mithril_proxy.proxy.identity import Identifier
from mithril_proxy.proxy.posture import Observation
from mithril_proxy.proxy.reevaluate import Reevaluator
from mithril_proxy.proxy.release import Releases
from mithril_proxy.proxy.reserved import KnownSources
from mithril_proxy.proxy.upstream import AiohttpUpstream, Upstream
from mithril_proxy.proxy.versions import narrowed, observe_version
from mithril_proxy.secrets import SecretGuard, check_examples, load_guard
from mithril_proxy.settings import Settings
from mithril_proxy.store import open_store
from mithril_proxy.store.desk import DeskStore, Scope
from mithril_proxy.store.interface import Recorded, ReputationStep
from mithril_proxy.telemetry import Metrics, configure_logging
from mithril_proxy.types import Decision, HeldWrite, Judge
from mithril_proxy.upkeep import every, keep_quarantine, look_at_upstream

if TYPE_CHECKING:
    from mithril_proxy.mcp.agent_tools import AgentTools
    from mithril_proxy.mcp.callers import Credentials, ScopesOf
    from mithril_proxy.mcp.http import McpPlane
    from mithril_proxy.mcp.operator_tools import OperatorTools

KNOWN_UPSTREAM_S = 300.0  # Cognee's /health opens both its databases, so it is asked gently
UNKNOWN_UPSTREAM_S = 5.0
FORGET_EVERY_S = 3600.0
HEAL_EVERY_S = 30.0  # the circuit of a judge that was down closes again after as long
KEEP_EVERY_S = 3600.0  # retention is counted in days
LOOK_EVERY_S = 15.0  # as often as Prometheus usually scrapes


def build_guard(policy: Policy, settings: Settings) -> SecretGuard:
    """The credential guard of a policy. Raises ConfigurationError."""
    tag_key = settings.secret_tag_key
    return load_guard(
        [policy.resolve(pack) for pack in policy.secrets.packs],
        tag_key=tag_key.get_secret_value().encode() if tag_key else None,
    )


def rule_problems(policy: Policy, settings: Settings) -> tuple[str, ...]:
    """Rules whose own examples fail, of every rule file that the policy loads. Raises ConfigurationError."""
    danger = DangerRules.load(policy.resolve(policy.judge.rules))
    return (*check_examples(build_guard(policy, settings)), *check_rules(danger))


@dataclass(frozen=True, slots=True)
class Rules:
    """A policy with everything that it loads: the credential guard, the judge, and the local rules by themselves."""

    policy: Policy
    guard: SecretGuard
    judge: Judge
    local: Judge


def load_rules(settings: Settings, clock: Clock) -> Rules:
    """The policy of the settings and its rules. Raises ConfigurationError."""
    policy = load_policy(settings.policy)
    local = LocalJudge.load(policy.resolve(policy.judge.rules))
    return Rules(policy, build_guard(policy, settings), build_judge(settings, policy, clock, local), local)


def build_judge(settings: Settings, policy: Policy, clock: Clock, local: Judge) -> Judge:
    """The judge of the settings: the local rules alone, or as the floor under a language model.

    Raises ConfigurationError.
    """
    if settings.effective_judge == "local":
        return local
    if settings.llm_api_key is None:
        raise ConfigurationError("MITHRIL_LLM_API_KEY: must be set for the openai judge; or set MITHRIL_JUDGE=local")
    client = connect(policy.judge, base_url=settings.llm_base_url, api_key=settings.llm_api_key.get_secret_value())
    model = OpenAIJudge(client, model=settings.llm_model, prompts=load_prompts(policy), policy=policy, clock=clock)
    return FlooredJudge(model, local)


def build_dry_firewall(settings: Settings) -> Firewall:
    """A firewall with no database and no upstream, for `mithril evaluate`. Raises ConfigurationError."""
    clock = SystemClock()
    rules = load_rules(settings, clock)
    stages = build_dry_chain(rules.policy, guard=rules.guard, judge=rules.judge)
    return Firewall(stages, rules.policy, clock, RecordsNothing(), reputation_step)


class RecordsNothing:
    """The recorder of a dry run."""

    async def record(
        self, decision: Decision, *, held: HeldWrite | None = None, step: ReputationStep | None = None
    ) -> Recorded:
        """Nothing is kept."""
        return Recorded(quarantine_id=None, reputation=decision.signals.source_reputation)


@dataclass(slots=True)
class Application:
    """One running Mithril. `reload` swaps the policy; requests under way keep the one they began with."""

    settings: Settings
    store: DeskStore
    upstream: Upstream
    metrics: Metrics
    clock: Clock
    log: FilteringBoundLogger
    data_plane: DataPlane
    recent: RecentWrites
    rules: Rules
    version: Observation

    async def reload(self) -> bool:
        """Load the policy again. False, with the reason in the log, when it is wrong: the old one stays."""
        before = self.data_plane.services.policy.digest
        try:
            rules = load_rules(self.settings, self.clock)
        except ConfigurationError as error:
            await self.store.append_audit("policy", before, {"event": "reload_refused", "reason": str(error)})
            self.log.error("policy.reload_refused", reason=str(error), kept=before)
            return False
        await self.store.append_audit("policy", rules.policy.digest, {"event": "reloaded", "before": before})
        self.rules = rules
        self._rebuild()
        self.log.info("policy.reloaded", digest=rules.policy.digest, before=before)
        return True

    def upkeep(self) -> tuple[Coroutine[Any, Any, None], ...]:
        """What runs beside the requests until it is cancelled."""
        return (
            every(HEAL_EVERY_S, "heal", self._heal, self.log),
            every(KEEP_EVERY_S, "quarantine.upkeep", self._keep, self.log),
            every(FORGET_EVERY_S, "receipts.upkeep", self._forget, self.log),
            every(LOOK_EVERY_S, "upstream.look", lambda: look_at_upstream(self.upstream, self.metrics), self.log),
        )

    async def observe_upstream(self) -> bool:
        """Look at the upstream's version; recalls are narrowed while Mithril does not know it. True when it does."""
        version = await observe_version(self.upstream)
        if version != self.version:
            log = self.log.info if version.verdict == "ok" else self.log.warning
            log("upstream.version", detail=version.detail, advice=version.advice)
            self.version = version
            self._rebuild()
        return version.verdict == "ok"

    def _rebuild(self) -> None:
        rules = replace(self.rules, policy=narrowed(self.rules.policy, self.version))
        self.data_plane.services = build_services(self.settings, rules, self.store, self.recent, self.clock)

    async def _heal(self) -> None:
        """Judge again what was held for missing evidence alone."""
        reevaluator = await build_reevaluator(self.data_plane.services, self.store, self.upstream, self.clock)
        released = await reevaluator.heal()
        if released:
            self.log.info("heal.released", count=released)

    async def _forget(self) -> None:
        """Delete receipts of recalls that are older than the policy keeps them."""
        kept = timedelta(days=self.data_plane.services.policy.recall.receipt_days)
        await self.store.forget_receipts(self.clock.now() - kept)

    async def _keep(self) -> None:
        """Expire and forget held claims as the policy says."""
        kept = await keep_quarantine(self.store, self.data_plane.services.policy.quarantine, self.clock)
        if kept.expired or kept.forgotten:
            self.log.info("quarantine.kept", expired=kept.expired, forgotten=kept.forgotten)


def build_services(settings: Settings, rules: Rules, store: DeskStore, recent: RecentWrites, clock: Clock) -> Services:
    """Everything that depends on the policy."""
    policy = rules.policy
    service_key = settings.upstream_api_key.get_secret_value() if settings.upstream_api_key else None
    stages = build_chain(
        policy, guard=rules.guard, judge=rules.judge, local=rules.local, book=store, recent=recent, clock=clock
    )
    return Services(
        policy=policy,
        guard=rules.guard,
        judge=rules.judge,
        firewall=Firewall(stages, policy, clock, store, reputation_step, store),
        identifier=Identifier(policy, store, service_key),
        known_sources=KnownSources(store, policy, clock),
        service_key=service_key,
        documents=DocumentReader.of(policy),
    )


@asynccontextmanager
async def running(settings: Settings, log: FilteringBoundLogger) -> AsyncIterator[Application]:
    """An application with its database and upstream open, closed again at the end. Raises ConfigurationError."""
    clock = SystemClock()
    store = await open_store(settings.database_url, clock)
    upstream = AiohttpUpstream(settings.upstream_url, settings.connect_timeout_s, settings.read_timeout_s)
    metrics = Metrics()
    try:
        rules = load_rules(settings, clock)
        recent = RecentWrites(rules.policy.joins, clock)
        version = await observe_version(upstream)
        policy = narrowed(rules.policy, version)
        services = build_services(settings, replace(rules, policy=policy), store, recent, clock)
        await store.append_audit(
            "policy", services.policy.digest, {"event": "started", "mode": services.policy.mode.value}
        )
        data_plane = DataPlane(services, store, upstream, metrics, clock, log)
        yield Application(settings, store, upstream, metrics, clock, log, data_plane, recent, rules, version)
    finally:
        await upstream.close()
        await store.close()


@asynccontextmanager
async def build_operator_plane(settings: Settings, source: str) -> AsyncIterator[DataPlane]:
    """A data plane for connectors in this process: on no socket, so its caller may name any source.

    Raises ConfigurationError.
    """
    async with running(settings, configure_logging("warning", settings.log_format)) as application:
        services = application.data_plane.services
        identifier = OperatorIdentifier(services.policy, application.store, source, services.service_key)
        application.data_plane.services = replace(services, identifier=identifier)
        yield application.data_plane


def build_agent_tools(application: Application, credentials: Credentials, dataset: str) -> AgentTools:
    """The MCP tools of an agent, over the data plane of this process."""
    from mithril_proxy.mcp.agent_tools import AgentTools  # the MCP SDK: 0.4 s that most commands do not pay

    return AgentTools(application.data_plane, credentials, dataset)


def build_operator_tools(application: Application, credentials: Credentials, scopes_of: ScopesOf) -> OperatorTools:
    """The MCP tools of an operator."""
    from mithril_proxy.mcp.operator_tools import OperatorTools

    def releases() -> Releases:
        return application.data_plane.services.releases(application.store, application.upstream)

    return OperatorTools(application.store, releases, credentials, scopes_of)


def build_mcp_plane(application: Application, scopes_of: ScopesOf) -> McpPlane:
    """The MCP endpoint of the admin listener; it runs as long as the listener's lifespan."""
    from mithril_proxy.mcp.callers import Credentials
    from mithril_proxy.mcp.http import McpPlane
    from mithril_proxy.mcp.servers import DEFAULT_DATASET, agent_server, operator_server

    return McpPlane(
        agent_server(build_agent_tools(application, Credentials(), DEFAULT_DATASET)),
        operator_server(build_operator_tools(application, Credentials(), scopes_of)),
        scopes_of,
    )


async def build_reevaluator(services: Services, store: DeskStore, upstream: Upstream, clock: Clock) -> Reevaluator:
    """What judges held claims again, with the service credential."""
    releases = services.releases(store, upstream)
    headers = rebuilt_request_headers(releases.headers(), content_type=b"application/json", accept=b"application/json")
    tags = await services.tags()
    return Reevaluator(store, services.firewall, releases, services.guard, tags, headers, clock)


async def watch_upstream(application: Application) -> None:
    """Look at the upstream's version again and again: often while it is unknown. Runs until it is cancelled."""
    while True:
        is_known = await application.observe_upstream()
        await asyncio.sleep(KNOWN_UPSTREAM_S if is_known else UNKNOWN_UPSTREAM_S)


async def build_admin_plane(application: Application) -> tuple[ASGIApp, str | None]:
    """The admin plane, and its first token when one had to be made up because there was none."""
    from mithril_proxy.mcp.http import with_mcp

    chosen = application.settings.admin_token
    store = application.store
    first = None if chosen else await first_token(store)
    gate = build_gate(application)
    operations = Operations(
        store=store,
        upstream=application.upstream,
        metrics=application.metrics,
        clock=application.clock,
        log=application.log,
        services=lambda: application.data_plane.services,
        reevaluator=lambda: build_reevaluator(
            application.data_plane.services, store, application.upstream, application.clock
        ),
        reload=application.reload,
    )
    return with_mcp(build_admin(operations, gate), build_mcp_plane(application, scopes_by(gate))), first


def build_gate(application: Application) -> Gatekeeper:
    """What knows operators by their tokens."""
    chosen = application.settings.admin_token
    return Gatekeeper(application.store, application.clock, chosen.get_secret_value() if chosen else None)


def scopes_by(gate: Gatekeeper) -> ScopesOf:
    """The scope of an operator's token, as MCP asks for it."""

    async def scopes_of(given: str) -> frozenset[str]:
        operator = await gate.by_token(given)
        return frozenset() if operator is None else frozenset((operator.scope.value,))

    return scopes_of


async def first_token(store: DeskStore) -> str | None:
    """A new admin token when no live one is there, to be shown once; None otherwise. Raises StoreUnavailable."""
    if any(token.revoked_at is None and token.scope is Scope.ADMIN for token in await store.tokens()):
        return None
    token = new_token()
    await store.add_token(f"first-{token_digest(token)[:8]}", scope=Scope.ADMIN, digest=token_digest(token))
    return token


@asynccontextmanager
async def audit_outputs(application: Application) -> AsyncIterator[tuple[Delivery, ...]]:
    """A delivery for each audit output of the settings. Raises ConfigurationError."""
    settings, clients = application.settings, []
    receivers: list[Receiver] = []
    if settings.audit_syslog is not None:
        receivers.append(Syslog(parse_target(settings.audit_syslog), output_name("syslog", settings.audit_syslog)))
    if settings.audit_webhook_url is not None:
        address = parse_address(settings.audit_webhook_url)
        if settings.audit_webhook_secret is None:
            raise ConfigurationError(
                "MITHRIL_AUDIT_WEBHOOK_SECRET: must be set, so that the receiver can check who posts"
            )
        clients.append(AiohttpUpstream(address.origin, CONNECT_S, ANSWER_S))
        secret, name = (
            settings.audit_webhook_secret.get_secret_value(),
            output_name("webhook", settings.audit_webhook_url),
        )
        receivers.append(Webhook(clients[-1], address.target, secret, name, application.clock))
    try:
        yield tuple(Delivery(application.store, receiver, application.log) for receiver in receivers)
    finally:
        for client in clients:
            await client.close()


def output_name(kind: str, url: str) -> str:
    """What an output's cursor is kept under: another address begins anew. It does not hold the address."""
    return f"{kind}-{hashlib.sha256(url.encode()).hexdigest()[:12]}"
