"""Signs in to the MCP server at the URL by OAuth, with the official client. Prints one JSON object per line: the link that a person opens, the
tools, and the tools again after the access token expired. Reads the URL to which the person was sent back from stdin.
"""

import asyncio
import json
import sys
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import ClientSession
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

URL, CALLBACK = sys.argv[1:]


class Storage:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def tell(**line):
    print(json.dumps(line), flush=True)


async def show(link):
    tell(link=link)


async def receive():
    line = await asyncio.to_thread(sys.stdin.readline)
    query = parse_qs(urlsplit(line.strip()).query)
    return AuthorizationCodeResult(
        code=query["code"][0],
        state=query["state"][0],
        iss=query.get("iss", [None])[0],
    )


async def list_tools(provider):
    async with (
        httpx2.AsyncClient(auth=provider, timeout=30) as http,
        streamable_http_client(URL, http_client=http) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        await session.initialize()
        return sorted(tool.name for tool in (await session.list_tools()).tools)


async def main():
    storage = Storage()
    provider = OAuthClientProvider(
        server_url=URL,
        client_metadata=OAuthClientMetadata(
            client_name="Official client for Python",
            redirect_uris=[CALLBACK],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            token_endpoint_auth_method="none",
            scope="read",
        ),
        storage=storage,
        redirect_handler=show,
        callback_handler=receive,
    )
    tell(tools=await list_tools(provider))
    former = storage.tokens.refresh_token
    provider.context.token_expiry_time = 1
    tell(
        tools=await list_tools(provider),
        is_refreshed=storage.tokens.refresh_token != former,
    )


asyncio.run(main())
