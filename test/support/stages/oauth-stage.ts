import { createHash, randomBytes } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import type { TestGateway } from '../servers/gateway.ts';
import type { BrowserSession } from './browser-session.ts';

export const CALLBACK = 'http://127.0.0.1:4711/callback';
export const ISSUER = 'http://postroom.test';
export const MCP_RESOURCE = `${ISSUER}/mcp`;

/** What a client asks for, and what a person decides. */
interface SignIn {
  clientId: string;
  verifier: string;
  /** parameters of the request to sign in, beside the usual ones; undefined removes one */
  more?: Record<string, string | undefined>;
}

interface Decision {
  level?: string | null;
  addresses?: string[] | null;
  workspaceId?: string;
}

interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  scope: string;
}

/** A client of OAuth, and the persons who decide about it. */
export interface OauthStage {
  post: (
    path: string,
    form: Record<string, string>,
    headers?: Record<string, string>,
  ) => Promise<LightMyRequestResponse>;
  register: (metadata?: Record<string, unknown>) => Promise<string>;
  makeVerifier: () => string;
  makeParameters: (signIn: SignIn) => Record<string, string>;
  /** opens the link of a client in a browser */
  open: (signIn: SignIn) => Promise<LightMyRequestResponse>;
  decide: (browser: BrowserSession, signIn: SignIn, decision?: Decision) => Promise<LightMyRequestResponse>;
  /** returns the code of a person who allows a level */
  allow: (browser: BrowserSession, signIn: SignIn, decision?: Decision) => Promise<string>;
  exchange: (signIn: SignIn, code: string, more?: Record<string, string>) => Promise<LightMyRequestResponse>;
  refresh: (clientId: string, token: string, more?: Record<string, string>) => Promise<LightMyRequestResponse>;
  /** registers a client, and returns its tokens for a level */
  connect: (
    browser: BrowserSession,
    decision?: Decision,
    more?: Record<string, string | undefined>,
  ) => Promise<Tokens & { clientId: string }>;
}

export function openOauthStage({ app }: Pick<TestGateway, 'app'>): OauthStage {
  const post: OauthStage['post'] = (path, form, headers = {}) =>
    app.inject({
      method: 'POST',
      url: path,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: new URLSearchParams(form).toString(),
    });
  const readParameters: OauthStage['makeParameters'] = ({ clientId, verifier, more = {} }) =>
    Object.fromEntries(
      Object.entries({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: CALLBACK,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        resource: MCP_RESOURCE,
        state: 'state-1',
        ...more,
      }).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
  const stage: OauthStage = {
    post,
    makeParameters: readParameters,
    makeVerifier: () => randomBytes(32).toString('base64url'),
    async register(metadata = {}) {
      const response = await app.inject({
        method: 'POST',
        url: '/oauth/register',
        payload: { client_name: 'Test program', redirect_uris: [CALLBACK], ...metadata },
      });
      if (response.statusCode !== 201) throw new Error(response.body);
      return (response.json() as { client_id: string }).client_id;
    },
    open: (signIn) => app.inject({ url: `/oauth/authorize?${new URLSearchParams(readParameters(signIn)).toString()}` }),
    async decide(browser, signIn, { level = 'read', addresses = null, workspaceId } = {}) {
      const asked = { parameters: readParameters(signIn) };
      const shown = await browser.auth('POST', '/oauth/request', asked);
      const { question } = shown.json() as { question?: { workspaceId: string } };
      return browser.auth('POST', '/oauth/decision', {
        asked,
        workspaceId: workspaceId ?? question?.workspaceId ?? '',
        level,
        addresses,
      });
    },
    async allow(browser, signIn, decision) {
      const response = await stage.decide(browser, signIn, decision);
      const { location } = response.json() as { location?: string };
      const code = location === undefined ? null : new URL(location).searchParams.get('code');
      if (code === null) throw new Error(response.body);
      return code;
    },
    exchange: ({ clientId, verifier }, code, more = {}) =>
      post('/oauth/token', {
        grant_type: 'authorization_code',
        client_id: clientId,
        code,
        redirect_uri: CALLBACK,
        code_verifier: verifier,
        resource: MCP_RESOURCE,
        ...more,
      }),
    refresh: (clientId, token, more = {}) =>
      post('/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token, ...more }),
    async connect(browser, decision, more = {}) {
      const clientId = await stage.register();
      const signIn = { clientId, verifier: stage.makeVerifier(), more };
      const code = await stage.allow(browser, signIn, decision);
      const { resource } = readParameters(signIn);
      const response = await stage.exchange(signIn, code, resource === undefined ? {} : { resource });
      if (response.statusCode !== 200) throw new Error(response.body);
      return { ...(response.json() as Tokens), clientId };
    },
  };
  return stage;
}
