import type { FastifyInstance, LightMyRequestResponse } from 'fastify';

/** Whoever calls `/api/auth` as a browser does: it keeps cookies and tells its origin. */
export interface BrowserSession {
  /** by name, as the gateway set them; those it took back are gone */
  cookies: Map<string, string>;
  /** the Set-Cookie fields of the last response */
  lastCookies: string[];
  auth: (method: 'GET' | 'POST', path: string, body?: unknown, headers?: Fields) => Promise<LightMyRequestResponse>;
  graphql: (query: string, headers?: Fields, variables?: Record<string, unknown>) => Promise<LightMyRequestResponse>;
  rest: (method: Method, path: string, headers?: Fields, body?: unknown) => Promise<LightMyRequestResponse>;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** Of a request; undefined leaves a field out. */
export type Fields = Record<string, string | undefined>;

/** A browser that shows pages of that origin. */
export function openBrowser(app: FastifyInstance, origin = 'http://postroom.test'): BrowserSession {
  const cookies = new Map<string, string>();
  const { host } = new URL(origin);
  const browser: BrowserSession = {
    cookies,
    lastCookies: [],
    auth: (method, path, body, headers) => send(method, `/api/auth${path}`, body, headers),
    graphql: (query, headers, variables) => send('POST', '/graphql', { query, variables }, headers),
    rest: (method, path, headers, body) => send(method, `/api/e2${path}`, body, headers),
  };

  async function send(method: Method, url: string, body?: unknown, headers: Fields = {}) {
    const fields: Fields = {
      host,
      origin: method === 'GET' ? undefined : origin,
      'sec-fetch-site': 'same-origin',
      cookie: cookies.size === 0 ? undefined : [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      'content-type': body === undefined ? undefined : 'application/json',
      ...headers,
    };
    const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
    const response = await app.inject({
      method,
      url,
      headers: Object.fromEntries(given),
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    browser.lastCookies = [response.headers['set-cookie'] ?? []].flat();
    for (const field of browser.lastCookies) keep(field);
    return response;
  }

  function keep(field: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(field) ?? [];
    if (value === '' || /max-age=0/i.test(field)) cookies.delete(name);
    else cookies.set(name, value);
  }

  return browser;
}
