"""Reads what an operator sends, into validated values. Every fault is a RequestError that names the field."""

from __future__ import annotations

from typing import TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from mithril_proxy.errors import MalformedBody, RequestError

Model = TypeVar("Model", bound=BaseModel)

MAX_FORM_FIELDS = 50
FORM_TYPE = "application/x-www-form-urlencoded"


def read_query(request: Request, model: type[Model]) -> Model:
    """The query string as `model`. Raises RequestError."""
    given = request.query_params
    repeated = next((name for name in given if len(given.getlist(name)) > 1), None)
    if repeated is not None:
        raise RequestError(f"{repeated}: given more than once")
    return validated(model, dict(given))


async def read_json(request: Request, model: type[Model]) -> Model:
    """The JSON body as `model`; 0 is no false and "1" no number. Raises RequestError."""
    try:
        return model.model_validate_json(await request.body(), strict=True)
    except ValidationError as error:
        raise RequestError(_explain(error)) from None


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form of the desk; of a repeated one the last. Raises MalformedBody."""
    if not request.headers.get("content-type", "").startswith(FORM_TYPE):
        raise MalformedBody(f"send a form: content-type {FORM_TYPE}")
    try:
        return dict(
            parse_qsl(
                (await request.body()).decode(),
                keep_blank_values=True,
                strict_parsing=False,
                errors="strict",
                max_num_fields=MAX_FORM_FIELDS,
            )
        )
    except ValueError:
        raise MalformedBody("the form cannot be read") from None


def validated(model: type[Model], values: object) -> Model:
    """The values as `model`. Raises RequestError."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise RequestError(_explain(error)) from None


def _explain(error: ValidationError) -> str:
    """The first wrong field and why; never the value."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"]) or "body"
    return f"{field}: {first['msg']}"
