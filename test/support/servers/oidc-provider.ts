import { createHmac, createSign, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** A person whom the provider signs in. */
interface ProviderPerson {
  sub: string;
  email?: string | undefined;
  email_verified?: boolean | undefined;
  name?: string | undefined;
  groups?: string[] | undefined;
}

/** Changes an ID token before the service gets it. */
export type TokenChange = (claims: Record<string, unknown>, sign: TokenSigner) => string;

/** Makes ID tokens. */
interface TokenSigner {
  /** signed by the provider's key, or by another under the same `kid` */
  rs256: (claims: Record<string, unknown>, options?: { isForged?: boolean; kid?: string }) => string;
  none: (claims: Record<string, unknown>) => string;
  /** signed by a secret, as the header says */
  hs256: (claims: Record<string, unknown>, secret: string) => string;
}

/** An OpenID provider on loopback. */
export interface TestProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** who signs in next, without any form; null: the provider refuses */
  person: ProviderPerson | null;
  /** null: tokens arrive as they are */
  changeToken: TokenChange | null;
  /** changes the discovery document */
  changeDiscovery: ((document: Record<string, unknown>) => Record<string, unknown>) | null;
  /** paths of the requests that came in */
  requests: string[];
  /** Replaces the signing key by another with a new `kid`. */
  rotateKey: () => void;
  /** Follows the redirects of a browser from `url` to the first URL outside of the provider. Without `cookies` it is a new browser. */
  visit: (url: string, cookies?: Map<string, string>) => Promise<URL>;
  /** Confirms the sign-out at `url` in the browser with these cookies. Returns where the provider sends it. */
  signOut: (url: string, cookies: Map<string, string>) => Promise<string | null>;
  close: () => Promise<void>;
}

interface SigningKey {
  privateKey: KeyObject;
  jwk: Record<string, unknown>;
}

/** Starts a provider with one client, which may redirect to `redirectUri` and below. */
export async function openTestProvider(redirectUri: string): Promise<TestProvider> {
  let key = makeKey();
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clientId = 'postroom';
  const clientSecret = 'the secret of the client';
  let provider = createProvider();
  const stage: TestProvider = {
    issuer,
    clientId,
    clientSecret,
    person: null,
    changeToken: null,
    changeDiscovery: null,
    requests: [],
    rotateKey() {
      key = makeKey();
      provider = createProvider();
    },
    visit,
    async signOut(url, cookies) {
      const page = await (await send(new URL(url), cookies)).text();
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
      const confirmed = await send(new URL('/session/end/confirm', issuer), cookies, { xsrf, logout: 'yes' });
      return confirmed.headers.get('location');
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
  return stage;

  function createProvider(): Provider {
    const made = new Provider(issuer, {
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [redirectUri],
          post_logout_redirect_uris: [new URL('/sign-in', redirectUri).href],
        },
      ],
      jwks: { keys: [key.jwk] },
      cookies: { keys: ['test'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
      conformIdTokenClaims: false,
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
      findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ ...stage.person, sub }) }),
      async loadExistingGrant(context) {
        const { client, session } = context.oidc;
        if (client === undefined || session?.accountId === undefined) return undefined;
        const grant = new made.Grant({ clientId: client.clientId, accountId: session.accountId });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
    made.Client.prototype.redirectUriAllowed = (uri: string) =>
      uri === redirectUri || uri.startsWith(`${redirectUri}/`);
    return made;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', issuer);
    stage.requests.push(pathname);
    if (pathname.startsWith('/interaction/')) {
      const { person } = stage;
      const result =
        person === null
          ? { error: 'access_denied', error_description: 'no access' }
          : { login: { accountId: person.sub } };
      await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
      return;
    }
    if (pathname === '/token') changeJson(response, (body) => changeTokenIn(body));
    if (pathname.endsWith('/openid-configuration'))
      changeJson(response, (body) => stage.changeDiscovery?.(body) ?? body);
    await provider.callback()(request, response);
  }

  function changeTokenIn(body: Record<string, unknown>): Record<string, unknown> {
    const { id_token: token } = body;
    if (stage.changeToken === null || typeof token !== 'string') return body;
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      unknown
    >;
    return { ...body, id_token: stage.changeToken(claims, makeSigner(key)) };
  }

  async function send(url: URL, cookies: Map<string, string>, form?: Record<string, string>): Promise<Response> {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const field of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(field) ?? [];
      cookies.set(name, value);
    }
    return response;
  }

  async function visit(url: string, cookies = new Map<string, string>()): Promise<URL> {
    let next = new URL(url);
    while (next.origin === issuer) {
      const response = await send(next, cookies);
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${next.pathname} returned ${response.status}: ${await response.text()}`);
      next = new URL(location, next);
    }
    return next;
  }
}

/** Changes the JSON body of a response that is about to be sent. */
function changeJson(
  response: ServerResponse,
  change: (body: Record<string, unknown>) => Record<string, unknown>,
): void {
  const end = response.end.bind(response);
  response.end = ((chunk: string | Buffer, ...more: unknown[]) => {
    if (response.statusCode !== 200) return end(chunk, ...(more as []));
    const body = Buffer.from(JSON.stringify(change(JSON.parse(String(chunk)) as Record<string, unknown>)));
    response.setHeader('content-length', body.length);
    return end(body);
  }) as typeof response.end;
}

function makeKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { privateKey, jwk: { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' } };
}

function makeSigner(key: SigningKey): TokenSigner {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return {
    rs256(claims, { isForged = false, kid = String(key.jwk['kid']) } = {}) {
      const head = `${part({ alg: 'RS256', kid })}.${part(claims)}`;
      const by = isForged ? makeKey().privateKey : key.privateKey;
      return `${head}.${createSign('RSA-SHA256').update(head).sign(by).toString('base64url')}`;
    },
    none: (claims) => `${part({ alg: 'none' })}.${part(claims)}.`,
    hs256(claims, secret) {
      const head = `${part({ alg: 'HS256' })}.${part(claims)}`;
      return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`;
    },
  };
}
