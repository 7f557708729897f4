"""A Django application that receives mail by webhook, answers it over REST, and sends mail over SMTP submission."""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
import urllib.request

import django
from django.conf import settings
from django.core.mail import EmailMessage
from django.core.management import execute_from_command_line
from django.http import HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

# SSL_CERT_FILE of this program names the certificate of the server: Django has no setting for a file to trust.
settings.configure(
    SECRET_KEY=os.environ["KEY"],
    ALLOWED_HOSTS=["localhost", "127.0.0.1"],
    ROOT_URLCONF=__name__,
    EMAIL_HOST=os.environ["SERVER"],
    EMAIL_PORT=int(os.environ["SUBMISSION_PORT"]),
    EMAIL_USE_TLS=True,
    EMAIL_HOST_USER="postroom",
    EMAIL_HOST_PASSWORD=os.environ["KEY"],
    EMAIL_TIMEOUT=30,
)
django.setup()

seen = set()
subjects = []


def verify(secret, headers, body):
    id, seconds, signatures = (headers.get(f"webhook-{name}") or "" for name in ("id", "timestamp", "signature"))
    if not seconds[:12].isdecimal() or abs(time.time() - int(seconds[:12])) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{id}.{seconds}.".encode() + body, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    return any(hmac.compare_digest(expected, one.encode()) for one in signatures.split(" "))


def reply(email, event_id):
    text = f"We received “{email['subject']}”."
    request = urllib.request.Request(
        f"{os.environ['BASE']}/api/e2/emails/{email['id']}/reply",
        json.dumps({"from": os.environ["FROM"], "text": text}).encode(),
        {
            "Authorization": f"Bearer {os.environ['KEY']}",
            "Content-Type": "application/json",
            "Idempotency-Key": event_id,  # a webhook that is posted twice is answered once
        },
    )
    urllib.request.urlopen(request, timeout=30).close()


@csrf_exempt
@require_POST
def webhook(request):
    if not verify(os.environ["SECRET"], request.headers, request.body):
        return HttpResponse(status=401)
    event = json.loads(request.body)
    if event["type"] == "email.received" and event["id"] not in seen:
        reply(event["email"], event["id"])
        seen.add(event["id"])
        subjects.append(event["email"]["subject"])
    return HttpResponse(status=204)


@csrf_exempt
@require_POST
def notify(request):
    form = request.POST
    EmailMessage(form["subject"], form["text"], os.environ["FROM"], [form["to"]]).send()
    return HttpResponse(status=204)


@require_GET
def index(_request):
    return JsonResponse(subjects, safe=False)


urlpatterns = [path("", index), path("webhook", webhook), path("notify", notify)]

if __name__ == "__main__":
    execute_from_command_line([sys.argv[0], "runserver", "--noreload", f"127.0.0.1:{os.environ['PORT']}"])
