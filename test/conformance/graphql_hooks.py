"""Tells schemathesis which errors of /graphql refuse the input: their `code` is one of Postroom, and it knows only those of Apollo."""

import json

import schemathesis

REFUSALS = {"validation_error", "not_found", "restricted_api_key", "rate_limit_exceeded"}


@schemathesis.hook
def after_call(context, case, response):
    try:
        payload = json.loads(response.content)
    except ValueError:
        return
    errors = payload.get("errors") if isinstance(payload, dict) else None
    if not errors or any(error.get("extensions", {}).get("code") not in REFUSALS for error in errors):
        return
    for error in errors:
        error["extensions"]["code"] = "BAD_USER_INPUT"
    response.content = json.dumps(payload).encode()
    response.clear_cache()
