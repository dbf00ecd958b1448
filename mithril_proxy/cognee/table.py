"""Every method and path of Cognee 1.6.5, and what Mithril does with it. To add a route: one row here."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Operation(enum.StrEnum):
    """What a call does to memory."""

    WRITE = "write"  # decoded, judged, rebuilt
    RECALL = "recall"  # decoded, narrowed to verified memory, answer filtered and scrubbed
    READ = "read"  # passed on, answer scrubbed
    DESTRUCTIVE = "destructive"  # deletes memory; passed on, audited
    CONTROL = "control"  # accounts, permissions, metadata; passed on, audited when it mutates
    WEBHOOK = "webhook"  # signed by a third party over its raw bytes
    DENY = "deny"  # refused unless the policy opens its switch
    PASS = "pass"  # noqa: S105 - a word, not a password; health, documents of the API, preflights


class Codec(enum.StrEnum):
    """How the body of a call is read."""

    NONE = "none"
    SCRUB = "scrub"
    ADD = "add"
    REMEMBER = "remember"
    ENTRY = "entry"
    UPDATE = "update"
    COGNIFY = "cognify"
    IMPROVE = "improve"
    MEMIFY = "memify"
    SKILLS = "skills"
    ONTOLOGY = "ontology"
    SCHEMA = "schema"
    DATASET = "dataset"
    RECALL = "recall"
    SEARCH = "search"


@dataclass(frozen=True, slots=True)
class Route:
    """One row. `switch` names a key of the policy's [routes]; empty means that no policy closes or opens it."""

    method: str
    template: str
    operation: Operation
    codec: Codec = Codec.NONE
    switch: str = ""
    note: str = ""

    @property
    def name(self) -> str:
        """`POST /api/v1/add`: what audit rows and metrics call it."""
        return f"{self.method} {self.template}"


_API = "/api/v1"


def _rows(
    operation: Operation, codec: Codec, switch: str, note: str, *calls: str, prefix: str = _API
) -> tuple[Route, ...]:
    pairs = (call.split(" ", 1) for call in calls)
    return tuple(Route(method, prefix + path, operation, codec, switch, note) for method, path in pairs)


_W, _R, _C, _X = Operation.WRITE, Operation.READ, Operation.CONTROL, Operation.DENY
_D, _H, _P = Operation.DESTRUCTIVE, Operation.WEBHOOK, Operation.PASS
_NONE, _SCRUB = Codec.NONE, Codec.SCRUB

_WRITES: tuple[Route, ...] = (
    *_rows(_W, Codec.ADD, "", "each file and text is one claim", "POST /add"),
    *_rows(_W, Codec.REMEMBER, "", "each file and text is one claim; with session_id it is a turn", "POST /remember"),
    *_rows(_W, Codec.ENTRY, "", "the entry is one claim, all its strings are judged", "POST /remember/entry"),
    *_rows(_W, Codec.UPDATE, "", "judged as a new write; the old version stays when it fails", "PATCH /update"),
    *_rows(_W, Codec.COGNIFY, "", "builds the graph from what was admitted; prompts are steering", "POST /cognify"),
    *_rows(_W, Codec.IMPROVE, "", "bridges sessions into the graph; `data` and tasks are graph_tasks", "POST /improve"),
    *_rows(_W, Codec.MEMIFY, "", "as improve", "POST /memify"),
    *_rows(_W, Codec.SKILLS, "skills", "a skill's text is one claim", "POST /skills"),
    *_rows(_W, Codec.ONTOLOGY, "ontologies", "an ontology steers every later extraction", "POST /ontologies"),
    *_rows(_W, Codec.SCHEMA, "dataset_schema", "steers every later extraction", "PUT /datasets/{dataset_id}/schema"),
    *_rows(_W, Codec.DATASET, "", "only the name, redacted", "POST /datasets"),
)

_RECALLS: tuple[Route, ...] = (
    *_rows(Operation.RECALL, Codec.RECALL, "", "rebuilt to verified memory", "POST /recall"),
    *_rows(Operation.RECALL, Codec.SEARCH, "", "rebuilt to verified memory", "POST /search"),
)

_READS: tuple[Route, ...] = (
    *_rows(_R, _SCRUB, "history", "past questions and answers", "GET /search", "GET /recall"),
    *_rows(
        _R,
        _SCRUB,
        "",
        "names and counts",
        "GET /datasets",
        "GET /datasets/{dataset_id}/data",
        "GET /datasets/{dataset_id}/data/count",
        "GET /datasets/{dataset_id}/schema",
        "GET /datasets/{dataset_id}/processing-status",
        "GET /datasets/status",
        "GET /datasets/status/progress",
        "GET /datasets/graph-summary",
        "GET /ontologies",
        "GET /skills/",
        "GET /skills/{skill_id}",
        "GET /proposals/{proposal_id}",
        "GET /activity/pipeline-runs",
        "GET /activity/users",
        "GET /activity/agents",
    ),
    *_rows(_R, _SCRUB, "raw", "a stored document", "GET /datasets/{dataset_id}/data/{data_id}/raw"),
    *_rows(
        _R,
        _SCRUB,
        "graph",
        "texts of the whole graph",
        "GET /datasets/{dataset_id}/graph",
        "GET /visualize",
        "GET /visualize/json",
        "GET /visualize/semantic",
        "GET /visualize/brains",
        "GET /visualize/brains-summary",
        "GET /visualize/live-events",
        "POST /visualize/multi",
        "GET /schema/inventory",
        "GET /schema/provenance",
        "GET /schema/provenance/json",
        "GET /activity/export/{dataset_id}",
    ),
    *_rows(_R, _SCRUB, "spans", "traces with the beginnings of queries", "GET /activity/spans"),
    *_rows(
        _R,
        _SCRUB,
        "sessions",
        "session turns and traces",
        "GET /sessions",
        "GET /sessions/stats",
        "GET /sessions/cost-by-model",
        "GET /sessions/with-agent-info",
        "GET /sessions/cost-by-user-agent",
        "GET /sessions/{session_id}",
    ),
    *_rows(
        _R,
        _SCRUB,
        "websockets",
        "frames carry texts of the graph",
        "WS /cognify/subscribe/{pipeline_run_id}",
        "WS /visualize/subscribe/{dataset_id}",
    ),
)

_DELETIONS: tuple[Route, ...] = _rows(
    _D,
    _NONE,
    "forget",
    "deletes memory",
    "POST /forget",
    "DELETE /delete",
    "DELETE /datasets",
    "DELETE /datasets/{dataset_id}",
    "DELETE /datasets/{dataset_id}/data/{data_id}",
    "DELETE /skills/{skill_id}",
    "DELETE /ontologies/{ontology_key}",
)

_ACCOUNTS: tuple[Route, ...] = (
    *_rows(
        _C,
        _NONE,
        "accounts",
        "Cognee's own login, keys and users",
        "POST /auth/login",
        "POST /auth/logout",
        "GET /auth/me",
        "POST /auth/register",
        "POST /auth/forgot-password",
        "POST /auth/reset-password",
        "POST /auth/request-verify-token",
        "POST /auth/verify",
        "GET /auth/api-keys",
        "POST /auth/api-keys",
        "DELETE /auth/api-keys/{api_key_id}",
        "GET /users/me",
        "PATCH /users/me",
        "GET /users/{id}",
        "PATCH /users/{id}",
        "DELETE /users/{id}",
        "POST /users/get-user-id",
    ),
    *_rows(
        _C,
        _NONE,
        "permissions",
        "Cognee's own grants",
        "POST /permissions/datasets/{principal_id}",
        "DELETE /permissions/datasets/{principal_id}",
        "GET /permissions/principals/{principal_id}/datasets",
        "POST /permissions/roles",
        "DELETE /permissions/roles/{role_id}",
        "POST /permissions/users/{user_id}/roles",
        "DELETE /permissions/users/{user_id}/roles",
        "POST /permissions/users/{user_id}/tenants",
        "DELETE /permissions/tenants/{tenant_id}/users/{user_id}",
        "POST /permissions/tenants",
        "POST /permissions/tenants/select",
        "GET /permissions/tenants/{tenant_id}/roles",
        "GET /permissions/tenants/{tenant_id}/roles/{role_id}/users",
        "GET /permissions/tenants/{tenant_id}/roles/users/{user_id}",
        "GET /permissions/tenants/{tenant_id}/users",
        "GET /permissions/tenants/me",
        "GET /permissions/tenants/{tenant_id}/capabilities/me",
        "POST /permissions/capabilities/{principal_id}",
        "DELETE /permissions/capabilities/{principal_id}",
    ),
    *_rows(
        _C,
        _NONE,
        "agents",
        "registration of agents",
        "GET /agents/list",
        "POST /agents/create",
        "GET /agents/connections",
        "GET /agents/connections/me",
        "GET /agents/connections/{agent_id}",
        "POST /agents/register",
        "POST /agents/unregister",
        "GET /agents/{agent_id}",
        "DELETE /agents/{agent_id}",
    ),
)

_SERVER: tuple[Route, ...] = (
    *_rows(_X, _NONE, "responses", "runs cognify and search on the server, untagged", "POST /responses/"),
    *_rows(
        _X,
        _NONE,
        "llm_tools",
        "sends documents to the server's model",
        "POST /llm/custom-prompt",
        "POST /llm/infer-schema",
    ),
    *_rows(_X, _NONE, "sync", "uploads memory to another service", "POST /sync"),
    *_rows(_C, _NONE, "", "metadata", "GET /sync/status", "GET /validate", "POST /checks/connection"),
    *_rows(_X, _NONE, "settings", "repoints the model and the databases", "GET /settings", "POST /settings"),
    *_rows(
        _X,
        _NONE,
        "configuration",
        "free-form storage",
        "POST /configuration/store_user_configuration",
        "GET /configuration/get_user_configuration/{config_id}",
        "GET /configuration/get_user_configuration/",
    ),
    *_rows(
        _H,
        _NONE,
        "webhooks",
        "a signed body cannot be redacted",
        "POST /slack/commands",
        "POST /slack/events",
        "POST /slack/interactive",
        "POST /integrations/{provider}/events",
    ),
    *_rows(
        _X,
        _NONE,
        "integrations",
        "the server fetches third-party content by itself",
        "POST /slack/history/{team_id}/import",
        "PUT /slack/history/{team_id}/sync",
        "GET /slack/history/{team_id}",
        "GET /slack/channels",
        "PUT /slack/channels",
        "POST /slack/link",
        "POST /integrations/plugins/{plugin_key}/provision",
        "DELETE /integrations/plugins/{plugin_key}",
        "POST /integrations/{provider}/authorize",
        "GET /integrations/{provider}/callback",
        "GET /integrations/{provider}/connection",
        "DELETE /integrations/{provider}/connection",
        "GET /integrations/{provider}/labels",
        "PUT /integrations/{provider}/labels",
        "GET /integrations/{provider}/folders",
        "PUT /integrations/{provider}/folders",
        "GET /integrations/{provider}/resources",
        "PUT /integrations/{provider}/resources",
        "POST /integrations/{provider}/sync",
    ),
    *_rows(_C, _NONE, "", "which integrations are on", "GET /integrations/status"),
)

_OPEN: tuple[Route, ...] = _rows(
    _P,
    _NONE,
    "",
    "health and the API's own documents",
    "GET /health",
    "GET /health/detailed",
    "GET /",
    "GET /openapi.json",
    "HEAD /openapi.json",
    "GET /docs",
    "HEAD /docs",
    "GET /docs/oauth2-redirect",
    "HEAD /docs/oauth2-redirect",
    "GET /redoc",
    "HEAD /redoc",
    prefix="",
)

# Routes of older servers that do harm; listed so that the refusal says why.
_OLDER: tuple[Route, ...] = _rows(
    _X,
    _NONE,
    "",
    "runs code or bypasses tags on Cognee before 1.2",
    "GET /notebooks",
    "POST /notebooks",
    "PUT /notebooks/{notebook_id}",
    "DELETE /notebooks/{notebook_id}",
    "POST /notebooks/{notebook_id}/{cell_id}/run",
    "POST /code-pipeline/index",
    "POST /code-pipeline/retrieve",
)

ROUTES: tuple[Route, ...] = _WRITES + _RECALLS + _READS + _DELETIONS + _ACCOUNTS + _SERVER + _OPEN + _OLDER
