"""Prints every method of the Python package `resend` with the requests that it sends, as JSON. It sends nothing.

Usage: python3 record_resend.py FOLDER, where `pip install --target FOLDER resend` installed the package.
"""

import inspect
import json
import sys

sys.path.insert(0, sys.argv[1])

import resend  # noqa: E402

requests = []


class Recorder(resend.default_http_client.__class__.__mro__[1]):
    def request(self, method, url, headers, json=None, files=None, data=None):
        requests.append(method.upper() + " " + url.removeprefix("https://service.test").split("?")[0])
        return b"{}", 200, {"content-type": "application/json"}


class Argument(dict):
    """Stands for any argument: for an id, and for parameters that hold what a path needs."""

    def __missing__(self, key):
        return "x"

    def get(self, key, default=None):
        return "x" if key in ("id", "email", "emails", "file") or key.endswith("_id") else default

    def __contains__(self, key):
        return self.get(key) is not None

    def __str__(self):
        return "x"

    def __format__(self, spec):
        return "x"


resend.api_key = "x"
resend.api_url = "https://service.test"
resend.default_http_client = Recorder()


# They send nothing.
LOCAL = {"Webhooks.verify"}


def made_up(annotation):
    """Returns an argument of about the type."""
    if annotation.startswith("typing.List"):
        return []
    return "x" if "str" in annotation and "Params" not in annotation else Argument()


def record(name, method):
    """Returns the requests of a method, tried with an id and with parameters in each place."""
    if name in LOCAL:
        return []
    required = [
        each
        for each in inspect.signature(method).parameters.values()
        if each.default is inspect.Parameter.empty and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    tries = [
        tuple(made_up(str(each.annotation)) for each in required),
        tuple("x" for _ in required),
        tuple(Argument() for _ in required),
        tuple(made_up(str(each.annotation)) for each in inspect.signature(method).parameters.values()),
    ]
    errors = []
    for arguments in tries:
        requests.clear()
        try:
            method(*arguments)
        except Exception as error:  # the made-up response has none of the fields that it may be looked through for
            errors.append(repr(error))
        if requests:
            return list(dict.fromkeys(requests))
    raise SystemExit(f"{name} sent no request: {errors}")


def walk(holder, place):
    for name, value in sorted(vars(holder).items()):
        if name.startswith("_") or not inspect.isclass(value) or not value.__module__.startswith("resend."):
            continue
        here = f"{place}.{name}" if place else name
        for method, raw in sorted(vars(value).items()):
            if isinstance(raw, classmethod) and not method.startswith("_") and not method.endswith("_async"):
                yield f"{here}.{method}", getattr(value, method)
        yield from walk(value, here)


methods = {}
for name, method in walk(resend, ""):
    # A class is also exported by itself, beside the place where programs use it.
    methods.setdefault(method, name)
    if name.count(".") > methods[method].count("."):
        methods[method] = name
print(json.dumps({
    "version": resend.__version__,
    "methods": {name: record(name, method) for method, name in sorted(methods.items(), key=lambda each: each[1])},
}))
