"""The only place that knows Cognee's paths and field names (read from Cognee 1.6.5). Pure: bytes in, values out.

Which call is it, and may it pass
    `routes.find_route(method, raw_path) -> Match`       Refused (403 unknown_route) or UnknownRoute (404, also
                                                         `path_not_canonical`); method "WS" for a WebSocket
    `routes.check_open(match, policy.routes)`            Refused (403 route_closed) when the policy closes its switch
    `routes.unlisted(calls) -> pairs`                    (method, template) pairs of an OpenAPI that the table lacks
    `Match`: route (name, operation, codec, switch, note), method, path (constant, to forward), parameters.
    `Operation`: WRITE decode and judge | RECALL rebuild | READ scrub the answer | DESTRUCTIVE, CONTROL, WEBHOOK, PASS
    stream | DENY refuse unless `check_open` returned (then stream).

Writes (operation WRITE)
    `writes.Rules(policy.limits, policy.routes, tags)`;  `tags.Tags(policy.forward, frozenset(source names))`
    `writes.decode_write(match, content_type, query, body, *, rules, new_id) -> WriteCall`
        content_type: str | None; query: str; body: bytes; new_id: () -> str, one id a claim.
        Raises MalformedBody 400, BodyTooLarge 413, Refused 403.
    `WriteCall`: claims, annotations (of a call without claims: redact them), dataset, session, sessions, client_tags,
        forged_tags (make them findings), dropped (fields left out by policy), is_session.
    `writes.forward_tags(call, status, source, tags) -> tags`     claims with equal tags can go in one upstream call
    `writes.prepare(call, claims, *, tags, dataset=None, annotations=None) -> PreparedWrite`
        any subset of the claims, as they came back from the chain; KeyError when one of their strings is missing, so
        never call it for a withheld claim.
    `prepared.PreparedWrite`: `.to_json()`, `.from_json(mapping)`;  `prepared.render(prepared, boundary) -> Rendered`
    `Rendered`: method, path, query, content_type, body.

    `writes.unread_files(call) -> pieces` (claim_id, filename, blob) and `writes.with_text(call, claim_id, text,
    keeps_original=False) -> WriteCall`: puts the text that `mithril_proxy.extract` read in place of an opaque file.

Recalls (operation RECALL)
    `recall.decode_recall(match, content_type, accept, body, *, limits) -> RecallAsk`
        redact its `.annotations` (the query is one of them).
    `recall.rebuild_recall(ask, policy.recall, *, tags, session_id, annotations=None, may_read_session)`
        -> RecallCall.
        session_id: fresh and random; may_read_session(id): True when all writes of the session went through Mithril.
    `RecallCall`: match, body (bytes, application/json), search_type, wants_stream, scopes, dropped.
    `answers.filter_answer(parsed, *, search_type, scopes, tags, redact) -> Filtered(answer, removed)`
    `answers.scrub(parsed, redact)`      redact: JSON value -> JSON value; UUIDs and hashes are put back

Probe
    `probe.PROBE_PATH`, `probe.probe_body(text, *, tags, top_k, datasets=(), dataset_ids=()) -> bytes`
    `probe.parse_probe(status, body, *, tags) -> tuple[Memory, ...]`     UpstreamUnavailable

Event streams
    `sse.SseGuard(new_scrubber, scrub_value, filter_results)`: `.feed(bytes) -> bytes`, `.close() -> bytes`, `.failed`
    `sse.encode_event(event, payload)`, `sse.error_event(message, status)`

Sessions (the rules of a ledger that the caller keeps; see `sessions`)
    `sessions.standing_after_write(before, existed=...)`, `sessions.refuse_foreign_sessions(call, standing_of)`,
    `sessions.session_path(session)`, `sessions.session_exists(status)`. Pass
    `writes.forward_tags(…, is_session_own=True)` for Standing.OWN only: any other turn stays untagged, never verified.

Reads
    `reads.scrub_kind(match, content_type) -> ScrubKind` STREAM | JSON | EVENTS | TEXT | REFUSE
    `reads.scrub_json(match, parsed, redact)`
"""
