import { Client, type FetchLike, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestGateway } from './gateway.ts';

/** The revisions of the protocol that clients speak: the current one without a handshake, and those before it. */
export const ERAS = ['2026-07-28', '2025-11-25'] as const;
export type Era = (typeof ERAS)[number];

interface McpServerPlace {
  /** origin of the gateway */
  url: string;
  key: string;
  /** the current one by default */
  era?: Era;
  fetch?: FetchLike;
}

/** Connects the official client. The caller closes it. */
export async function connectMcp({ url, key, era = ERAS[0], fetch }: McpServerPlace): Promise<Client> {
  const mode = era === ERAS[0] ? { pin: era } : 'legacy';
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit, ...(fetch === undefined ? {} : { fetch }) }),
  );
  return client;
}

/** Connects the official client to a gateway without a port, whose requests are injected. */
export function connectInjected({ app }: Pick<TestGateway, 'app'>, key: string, era?: Era): Promise<Client> {
  const fetch: FetchLike = async (url, init = {}) => {
    const response = await app.inject({
      method: (init.method ?? 'GET') as 'GET',
      url: new URL(url).pathname,
      headers: { host: 'postroom.test', ...Object.fromEntries(new Headers(init.headers)) },
      ...(typeof init.body === 'string' ? { payload: init.body } : {}),
    });
    const { statusCode, headers, payload } = response;
    const body = [202, 204].includes(statusCode) ? null : payload;
    return new Response(body, { status: statusCode, headers: headers as Record<string, string> });
  };
  return connectMcp({ url: 'http://postroom.test', key, fetch, ...(era === undefined ? {} : { era }) });
}
