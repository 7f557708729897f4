import { randomBytes } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import { type Reach, SCOPES, SCOPES_OF_LIMITED_KEYS, type Scope } from '../../../core/accounts/key-rights.ts';
import { GRANT_LEVELS, type GrantLevel } from '../../../core/accounts/oauth-grant.ts';
import { RIGHTS, type Right } from '../../../core/accounts/rights.ts';
import { ROLES, type Role } from '../../../core/accounts/roles.ts';
import { insertKey } from '../rows/key-rows.ts';
import type { TestGateway } from '../servers/gateway.ts';
import type { BrowserSession } from './browser-session.ts';
import { ISSUER, MCP_RESOURCE, openOauthStage } from './oauth-stage.ts';
import { openScimStage } from './scim-stage.ts';
import type { TeamPerson, TeamStage } from './team-stage.ts';

/** What a request is made with, and what it may do by the table of rights. */
export interface SweptCredential {
  name: string;
  kind: 'session' | 'key' | 'client' | 'page' | 'directory' | 'none';
  /** null: all */
  scopes: readonly Scope[] | null;
  /** of the person behind it; null: none limits it */
  role: Role | null;
  isApprover: boolean;
  reach: Pick<Reach, 'domains'> | null;
  send: (
    method: string,
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<LightMyRequestResponse>;
}

/** Pages whose origin the browser tokens name. */
const ORIGIN = 'https://app.example.com';
/** The scopes of a level of consent, as docs/oauth.md lists them. */
const LEVEL_SCOPES: Readonly<Record<GrantLevel, readonly Scope[] | null>> = {
  read: ['read'],
  send: ['read', 'send'],
  everything: null,
};
/** The lowest role of a person who can allow a level. */
const LEVEL_ROLE: Readonly<Record<GrantLevel, Role>> = { read: 'viewer', send: 'agent', everything: 'agent' };

const isAtLeast = (role: Role, least: Role) => ROLES.indexOf(role) <= ROLES.indexOf(least);

/** Returns whether the table of rights gives a credential a right. Credentials without rights have none, see isKnown. */
export function mayUse({ kind, scopes, role, isApprover }: SweptCredential, right: Right): boolean {
  const rule: { role: Role; scope: Scope; isOfApprovers?: boolean; isOfPrograms?: boolean } = RIGHTS[right];
  if (kind === 'page' && rule.isOfPrograms === true) return false;
  if (scopes !== null && !scopes.includes(rule.scope)) return false;
  return role === null || isAtLeast(role, rule.role) || (rule.isOfApprovers === true && isApprover);
}

/** Returns whether the interfaces know the credential at all: a directory's token is for its own routes. */
export function isKnown({ kind }: SweptCredential): boolean {
  return kind !== 'none' && kind !== 'directory';
}

/** Persons of each role, and what they sign in with or gave to programs, in one workspace. */
export async function openCredentials(gateway: TestGateway, team: TeamStage): Promise<SweptCredential[]> {
  const { box } = team;
  const domain = { id: box.domainId, name: box.address.split('@')[1] ?? '' };
  const persons: {
    name: string;
    role: Role;
    isApprover: boolean;
    person: TeamPerson;
    reach: SweptCredential['reach'];
  }[] = [{ name: 'owner', role: 'owner', isApprover: false, person: team.owner, reach: null }];
  for (const role of ROLES.filter((each) => each !== 'owner'))
    persons.push({ name: role, role, isApprover: false, person: await team.makeMember(role), reach: null });
  const approver = await team.makeMember('viewer', { is_approver: true });
  persons.push({ name: 'approver', role: 'viewer', isApprover: true, person: approver, reach: null });
  const limited = await team.makeMember('agent', { domains: [domain.id] });
  persons.push({
    name: 'limited agent',
    role: 'agent',
    isApprover: false,
    person: limited,
    reach: { domains: [domain] },
  });

  const made: SweptCredential[] = [];
  const bearer = (token: string, more: Record<string, string> = {}): SweptCredential['send'] => {
    return (method, url, body, headers = {}) =>
      gateway.app.inject({
        method: method as 'GET',
        url,
        headers: { host: 'postroom.test', authorization: `Bearer ${token}`, ...more, ...headers },
        ...(body === undefined ? {} : { payload: body as object }),
      });
  };
  const oauth = openOauthStage(gateway);
  for (const { name, role, isApprover, person, reach } of persons) {
    const common = { role, isApprover, reach };
    made.push({
      ...common,
      name: `session of ${name}`,
      kind: 'session',
      scopes: null,
      send: asBrowser(gateway, person.browser),
    });
    // A key of a domain reads and sends only.
    const sets =
      reach === null ? [null, ...SCOPES.map((scope) => [scope])] : SCOPES_OF_LIMITED_KEYS.map((scope) => [scope]);
    for (const scopes of sets) {
      const { secret, id } = await insertKey(gateway.owner, box, { scopes, ...(reach === null ? {} : { domain }) });
      await gateway.owner.pool.query('update api_key set made_by_person_id = $2 where id = $1', [id, person.personId]);
      const what = scopes === null ? 'full key' : `key with ${scopes.join()}`;
      made.push({ ...common, name: `${what} of ${name}`, kind: 'key', scopes, send: bearer(secret) });
    }
    for (const level of GRANT_LEVELS) {
      if (!isAtLeast(role, LEVEL_ROLE[level]) || (reach !== null && level === 'everything')) continue;
      // A token of the MCP server is for nothing else.
      const rest = await oauth.connect(person.browser, { level }, { resource: ISSUER });
      const mcp = await oauth.connect(person.browser, { level }, { resource: MCP_RESOURCE });
      const [own, other] = [bearer(rest.access_token), bearer(mcp.access_token)];
      const send: SweptCredential['send'] = (method, url, ...more) =>
        (url === '/mcp' ? other : own)(method, url, ...more);
      made.push({
        ...common,
        name: `client with ${level} of ${name}`,
        kind: 'client',
        scopes: LEVEL_SCOPES[level],
        send,
      });
    }
  }
  const common = { role: 'owner', isApprover: false, reach: null } as const;
  for (const lacking of SCOPES) {
    const scopes = SCOPES.filter((scope) => scope !== lacking);
    const { secret } = await insertKey(gateway.owner, box, { scopes });
    made.push({ ...common, name: `key without ${lacking} of owner`, kind: 'key', scopes, send: bearer(secret) });
  }
  const two = await insertKey(gateway.owner, box, { scopes: ['read', 'send'] });
  made.push({
    ...common,
    name: 'key with read,send of owner',
    kind: 'key',
    scopes: ['read', 'send'],
    send: bearer(two.secret),
  });
  for (const scopes of [['read'], ['send'], ['read', 'send']] as const) {
    const body = { rights: scopes, origins: [ORIGIN] };
    const token = await gateway.call(box.apiKey, 'POST', `/workspaces/${box.workspaceId}/tokens`, body);
    if (token.statusCode >= 300) throw new Error(token.body);
    const send = bearer((token.json() as { token: string }).token, { origin: ORIGIN });
    made.push({
      name: `page with ${scopes.join(' and ')}`,
      kind: 'page',
      scopes,
      role: null,
      isApprover: true,
      reach: null,
      send,
    });
  }
  const nobody = { scopes: [], role: null, isApprover: false, reach: null } as const;
  const { token } = await openScimStage(gateway, box.workspaceId);
  made.push({ ...nobody, name: 'token of a directory', kind: 'directory', send: bearer(token) });
  made.push({ ...nobody, name: 'unknown key', kind: 'none', send: bearer(randomBytes(32).toString('base64url')) });
  return made;
}

function asBrowser({ app }: TestGateway, { cookies }: BrowserSession): SweptCredential['send'] {
  return (method, url, body, headers = {}) =>
    app.inject({
      method: method as 'GET',
      url,
      headers: {
        host: 'postroom.test',
        ...(method === 'GET' ? {} : { origin: 'http://postroom.test' }),
        'sec-fetch-site': 'same-origin',
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: body as object }),
    });
}
