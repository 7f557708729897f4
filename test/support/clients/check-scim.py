"""Runs scim2-tester against the SCIM server at the URL with the token in SCIM_TOKEN. Prints one JSON object per check."""

import json
import os
import sys

import httpx2
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server

http = httpx2.Client(
    base_url=sys.argv[1],
    headers={"Authorization": f"Bearer {os.environ['SCIM_TOKEN']}"},
    timeout=60,
)
for result in check_server(SyncSCIMClient(http)):
    print(
        json.dumps(
            {
                "status": result.status.name,
                "title": result.title,
                "resource": result.resource_type,
                "reason": result.reason,
            }
        )
    )
