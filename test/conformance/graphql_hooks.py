"""Tells schemathesis which errors of /graphql refuse the input: their `code` is one of Postroom, and it knows only those of Apollo."""

import json

import schemathesis

# What the types of GraphQL do not express: ranges, cursors, two arguments of which one is required, the cost limit, IDs that exist.
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
    if case.meta is not None and case.meta.generation.mode.is_negative:
        # The request contradicts the schema, and must be refused.
        for error in errors:
            error["extensions"]["code"] = "BAD_USER_INPUT"
    else:
        # The request matches the schema, and may be refused for these reasons alone.
        del payload["errors"]
        payload.setdefault("data", None)
    response.content = json.dumps(payload).encode()
    response.clear_cache()
