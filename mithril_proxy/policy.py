"""The policy file: what is allowed, and every number of the decision.

1. A policy is one TOML file; a key that it leaves out keeps the value of `policies/default.toml`.
2. An unknown key, a wrong type or a number out of range stops the start and names file, key and reason.
3. `digest` identifies the whole policy (merged values, bytes of rule packs and prompts) and stands in every decision.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mithril_proxy.errors import ConfigurationError
from mithril_proxy.types import Mode, Status

Unit = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[float, Field(gt=0.0)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Weights(_Section):
    """How much each signal counts in the raw score."""

    source_reputation: Unit
    corroboration: Unit
    freshness: Unit
    contradiction: Unit
    content_danger: Unit


class Thresholds(_Section):
    """Scores at or above which a status holds; below `quarantine` is reject."""

    accept: Unit
    warn: Unit
    review: Unit
    quarantine: Unit

    @model_validator(mode="after")
    def _descending(self) -> Thresholds:
        if not self.accept >= self.warn >= self.review >= self.quarantine:
            raise ValueError("thresholds must descend: accept >= warn >= review >= quarantine")
        return self


class Freshness(_Section):
    """How age lowers a claim."""

    horizon_days: Positive


class Corroboration(_Section):
    """How aligned memories raise a claim."""

    step: Unit
    max_chunks: Annotated[int, Field(ge=0)]
    free_chunks: Annotated[int, Field(ge=0)]

    @property
    def maximum(self) -> float:
        """The most that corroboration can reach, 0.30 by default."""
        return self.step * self.max_chunks


class Contradiction(_Section):
    """When the judge's contradiction counts as found, and how far the probe looks."""

    found_above: Unit
    probe_top_k: Annotated[int, Field(ge=1, le=50)]
    max_distance: Annotated[float, Field(gt=0.0, le=2.0)]


class ContentDanger(_Section):
    """When content danger counts."""

    counted_above: Unit


class Cap(_Section):
    """The best status that a claim with such a finding can have."""

    when: Literal["opaque", "unavailable", "contradiction", "danger", "credential", "rule"]
    at_best: Status
    threshold: Unit = 0.0
    rule: str = ""

    @model_validator(mode="after")
    def _rule_is_named(self) -> Cap:
        if (self.when == "rule") != bool(self.rule):
            raise ValueError('`rule` names a finding and goes with when = "rule"')
        return self


class ReputationRule(_Section):
    """How a decision moves the reputation of its source."""

    good_rate: Unit
    bad_rate: Unit
    floor: Unit
    ceiling: Unit
    unknown_prior: Unit
    penalise: Literal["always", "evidence"]
    blameless_floor: Unit
    reward: Literal["admitted", "own-merit"]
    neutral: Unit
    probation_writes: Annotated[int, Field(ge=0)]
    probation_hours: Annotated[float, Field(ge=0.0)]


class Joins(_Section):
    """How far back the last writes of a source and about an entity are judged as one."""

    window_s: Positive
    max_writes: Annotated[int, Field(ge=1, le=64)]
    max_note_chars: Annotated[int, Field(ge=40)]
    max_chars: Annotated[int, Field(ge=200)]
    max_keys: Annotated[int, Field(ge=1)]
    max_bytes: Annotated[int, Field(ge=1024)]
    entities: Annotated[int, Field(ge=0, le=32)]
    found_above: Unit


class Forward(_Section):
    """How an admitted write is tagged and where it goes."""

    dataset: str
    verified_tag: Annotated[str, Field(min_length=1)]
    low_confidence_tag: Annotated[str, Field(min_length=1)]


class Recall(_Section):
    """What a recall may reach."""

    search_types: tuple[str, ...]
    default_search_type: str
    allow_graph_family: bool
    datasets: tuple[str, ...]
    receipt_days: Positive


class Routes(_Section):
    """Which of Cognee's routes and fields are open; each key is one switch of the route table."""

    skills: bool
    feedback: bool
    steering: bool
    graph_tasks: bool
    ontologies: bool
    dataset_schema: bool
    code: bool
    archives: bool
    responses: bool
    llm_tools: bool
    sync: bool
    settings: bool
    configuration: bool
    webhooks: bool
    integrations: bool
    websockets: bool
    forget: bool
    history: bool
    sessions: bool
    raw: bool
    graph: bool
    spans: bool
    permissions: bool
    accounts: bool
    agents: bool


class Documents(_Section):
    """How PDF, DOCX, XLSX and PPTX files are read, and what one may cost."""

    read: bool
    forward_original: bool
    timeout_s: Positive
    memory_bytes: Annotated[int, Field(ge=134_217_728)]
    max_unpacked_bytes: Annotated[int, Field(ge=1024)]
    max_pages: Annotated[int, Field(ge=1)]
    max_at_once: Annotated[int, Field(ge=1)]


class Responses(_Section):
    """HTTP statuses of the answers to diverted writes."""

    review: Annotated[int, Field(ge=200, le=499)]
    quarantine: Annotated[int, Field(ge=200, le=499)]
    reject: Annotated[int, Field(ge=200, le=499)]


class Limits(_Section):
    """Bounds on what a client may send."""

    max_body_bytes: Annotated[int, Field(ge=1024)]
    max_claims: Annotated[int, Field(ge=1)]
    max_json_depth: Annotated[int, Field(ge=4, le=512)]
    max_text_chars: Annotated[int, Field(ge=1024)]


class Review(_Section):
    """How many people a release needs."""

    second_reviewer: tuple[Status, ...]


class QuarantineRule(_Section):
    """How long held claims are kept, and how many. 0: for ever, without limit."""

    expire_days: Annotated[float, Field(ge=0.0)]
    retention_days: Annotated[float, Field(ge=0.0)]
    max_entries: Annotated[int, Field(ge=0)]


class Desk(_Section):
    """How long a sign-in to the review desk lasts, and how many wrong ones one address may try."""

    session_hours: Positive
    failures: Annotated[int, Field(ge=1)]
    failure_window_s: Positive


class JudgeRule(_Section):
    """How long a judge may take, when it is left alone, and what a language model is asked."""

    deadline_s: Positive
    stage_deadline_s: Positive
    max_concurrency: Annotated[int, Field(ge=1)]
    breaker_failures: Annotated[int, Field(ge=1)]
    breaker_reset_s: Positive
    retries: Annotated[int, Field(ge=0, le=5)]
    rules: str
    prompts: Annotated[tuple[str, ...], Field(min_length=1, max_length=2)]
    addressed: str
    borderline_margin: Annotated[float, Field(ge=0.0, le=0.5)]
    window_chars: Annotated[int, Field(ge=1000)]
    max_windows: Annotated[int, Field(ge=1, le=64)]
    memory_chars: Annotated[int, Field(ge=200)]
    max_answer_tokens: Annotated[int, Field(ge=64)]
    cache_entries: Annotated[int, Field(ge=0)]
    cache_s: Annotated[float, Field(ge=0.0)]
    input_price: Annotated[float, Field(ge=0.0)]
    output_price: Annotated[float, Field(ge=0.0)]


SourceName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]


class Ingest(_Section):
    """Which source the connectors write as, where no option says so."""

    slack: SourceName
    files: SourceName | Literal[""]
    channels: dict[str, SourceName] = {}
    authors: dict[str, SourceName] = {}


class Secrets(_Section):
    """Which credential rules are loaded. Paths are relative to the policy file."""

    packs: tuple[str, ...]


class SourceRule(_Section):
    """A source that is known by the digest of a credential of its own."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
    prior: Unit | None = None
    credential_sha256: tuple[Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")], ...] = ()
    may_declare: tuple[str, ...] = ()


class Policy(_Section):
    """One validated policy. `folder` is where its relative paths start; `digest` identifies all of it."""

    name: str
    mode: Mode
    weights: Weights
    thresholds: Thresholds
    freshness: Freshness
    corroboration: Corroboration
    contradiction: Contradiction
    content_danger: ContentDanger
    caps: tuple[Cap, ...]
    reputation: ReputationRule
    joins: Joins
    lineages: dict[str, str] = {}
    sources: dict[str, Unit]
    principals: tuple[SourceRule, ...] = ()
    forward: Forward
    recall: Recall
    routes: Routes
    documents: Documents
    responses: Responses
    limits: Limits
    review: Review
    quarantine: QuarantineRule
    desk: Desk
    judge: JudgeRule
    ingest: Ingest
    secrets: Secrets
    folder: Path = Field(default=Path(), exclude=True)
    digest: str = Field(default="", exclude=True)

    @property
    def scale(self) -> float:
        """The most that raw can reach: 0.525 with the default numbers."""
        weights = self.weights
        return weights.source_reputation + weights.corroboration * self.corroboration.maximum + weights.freshness

    def prior_of(self, source: str) -> float:
        """The reputation that `source` starts with."""
        return self.sources.get(source, self.reputation.unknown_prior)

    def resolve(self, name: str) -> Path:
        """The file that `name` in this policy means: beside the policy, else the one shipped with Mithril."""
        own = self.folder / name
        return own if own.exists() else policies_folder() / name


def policies_folder() -> Path:
    """The folder of the policies shipped with Mithril: inside the wheel, or at the top of a checkout."""
    packaged = Path(str(resources.files("mithril_proxy"))) / "policies"
    return packaged if packaged.is_dir() else Path(__file__).resolve().parent.parent / "policies"


def find_policy(name: str) -> Path:
    """The policy file that `name` means: a path, or one shipped with Mithril (`policies/strict.toml`, `strict`).

    Raises ConfigurationError when there is no such file.
    """
    candidates = (
        Path(name),
        policies_folder() / Path(name).name,
        policies_folder() / f"{Path(name).name}.toml",
    )
    for candidate in candidates:
        if candidate.is_file():
            return candidate.resolve()
    raise ConfigurationError(f"policy {name!r}: no such file, and none of that name is shipped with Mithril")


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: is not UTF-8 (byte {error.start})") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path}: not valid TOML: {error}") from None


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """`over` laid on `base`; tables are merged key by key, everything else is replaced."""
    merged = dict(base)
    for key, value in over.items():
        below = base.get(key)
        merged[key] = _merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def _explain(error: ValidationError) -> str:
    """The first wrong key of a policy and why it is wrong."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"]) or "(top level)"
    reason = "unknown key" if first["type"] == "extra_forbidden" else first["msg"]
    return f"{key}: {reason}"


def load_policy(name: str = "default.toml") -> Policy:
    """The policy that `name` means, laid over the default one and validated.

    Raises ConfigurationError that names file, key and reason.
    """
    path = find_policy(name)
    return _validated(_read_toml(path), path.parent, str(path))


def read_policy(text: str, folder: Path) -> Policy:
    """The policy that a text holds, as if it were a file in `folder`. Raises ConfigurationError."""
    try:
        own = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"not valid TOML: {error}") from None
    return _validated(own, folder, "policy")


def _validated(own: dict[str, Any], folder: Path, where: str) -> Policy:
    values = _merged(_read_toml(policies_folder() / "default.toml"), own)
    try:
        policy = Policy.model_validate({**values, "folder": folder})
    except ValidationError as error:
        raise ConfigurationError(f"{where}: {_explain(error)}") from None
    return policy.model_copy(update={"digest": _digest(policy)})


def _digest(policy: Policy) -> str:
    """SHA-256 over the merged values and the bytes of every rule pack and prompt."""
    state = hashlib.sha256(json.dumps(policy.model_dump(mode="json"), sort_keys=True).encode())
    for pack in policy.secrets.packs:
        path = policy.resolve(pack)
        if not path.is_file():
            raise ConfigurationError(f"secrets.packs: {pack!r} is neither beside the policy nor shipped with Mithril")
        state.update(path.read_bytes())
    for prompt in (policy.judge.rules, *policy.judge.prompts, policy.judge.addressed):
        path = policy.resolve(prompt)
        if not path.is_file():
            raise ConfigurationError(f"judge: {prompt!r} is neither beside the policy nor shipped with Mithril")
        state.update(path.read_bytes())
    return state.hexdigest()
