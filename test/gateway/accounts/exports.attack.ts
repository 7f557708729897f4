import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';

/*
 * An export takes as long as its client reads, and holds all that the workspace has. It ends when who asked for it loses the right, whether by an
 * interface or in the table alone, however slowly it is read.
 */

let gateway: TestGateway;
let team: TeamStage;
let url: string;

const MESSAGES = 6;
const MESSAGE_BYTES = 8_000_000;
/** A client that reads a chunk at a time would need a minute for the whole. Milliseconds. */
const READ_EVERY_MS = 100;
/** Less than the chunks of a whole export. */
const MAX_CHUNKS = 300;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
});
beforeEach(async () => {
  team = await openTeam(gateway, `exports${randomBytes(3).toString('hex')}`);
});
afterAll(() => gateway.close());

const sql = (text: string, ...values: unknown[]) => gateway.owner.pool.query(text, values);
const asPage = ({ browser }: TeamPerson): Record<string, string> => ({
  host: 'postroom.test',
  'sec-fetch-site': 'same-origin',
  cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
});

/** Begins a download, of which nothing is read yet. */
function begin(path: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(`${url}${path}`, { headers }, resolve).on('error', reject).end();
  });
}

/** Reads slowly, and returns whether the whole came. */
async function isWhole(response: IncomingMessage): Promise<boolean> {
  let chunks = 0;
  try {
    for await (const _ of response) {
      if (++chunks > MAX_CHUNKS) return true;
      await pause(READ_EVERY_MS);
    }
    return true;
  } catch {
    return false;
  } finally {
    response.destroy();
  }
}

describe('an export of the account ends when its owner', () => {
  test.each<[string, (owner: TeamPerson) => Promise<unknown>]>([
    ['ends the session', ({ personId }) => sql('delete from auth_session where person_id = $1', personId)],
    [
      'becomes an admin',
      ({ personId }) => sql(`update workspace_member set role = 'admin' where person_id = $1`, personId),
    ],
    ['is removed', ({ personId }) => sql('delete from workspace_member where person_id = $1', personId)],
    ['is suspended', ({ personId }) => sql('update workspace set suspended_at = now() where id = $1', personId)],
  ])('%s', async (_how, lose) => {
    const { workspaceId } = team.box;
    for (let n = 0; n < MESSAGES; n++)
      await insertMail(gateway.owner, [{ workspaceId, raw: randomBytes(MESSAGE_BYTES) }]);
    const response = await begin('/api/auth/export', asPage(team.owner));
    expect(response.statusCode).toBe(200);
    await lose(team.owner);
    expect(await isWhole(response)).toBe(false);
  });
});

describe('an export of the audit log ends when', () => {
  const fill = () =>
    sql(
      `insert into audit_entry (workspace_id, id, created_at, actor_kind, action, object_kind, object_name, is_denied, times)
       select $1, 'aud_' || lpad(n::text, 32, '0'), now() - n * interval '1 second', 'system', 'endpoint.updated', 'endpoint', repeat('x', 20000), false, 1
       from generate_series(1, 2000) n`,
      team.box.workspaceId,
    );
  test('its key is revoked', async () => {
    await fill();
    const key = await insertKey(gateway.owner, team.box, { scopes: ['read', 'manage'] });
    const response = await begin('/api/e2/audit.ndjson', { authorization: `Bearer ${key.secret}` });
    expect(response.statusCode).toBe(200);
    await sql('update api_key set revoked_at = now() where id = $1', key.id);
    expect(await isWhole(response)).toBe(false);
  });
  test('its member becomes an agent', async () => {
    await fill();
    const admin = await team.makeMember('admin');
    const response = await begin('/api/e2/audit.ndjson', asPage(admin));
    expect(response.statusCode).toBe(200);
    await sql(`update workspace_member set role = 'agent' where person_id = $1 and role = 'admin'`, admin.personId);
    expect(await isWhole(response)).toBe(false);
  });
});

describe('an export of the account is refused', () => {
  test('to every key, page and member but the owner, whatever its rights', async () => {
    const full = await insertKey(gateway.owner, team.box, { scopes: null });
    for (const path of ['/api/auth/export', '/api/auth/export/', '/api/auth//export', '/api/e2/export'])
      for (const headers of [
        { authorization: `Bearer ${full.secret}` },
        { ...asPage(team.owner), authorization: `Bearer ${full.secret}` },
      ]) {
        const response = await begin(path, headers);
        expect([path, (response.statusCode ?? 0) >= 400]).toEqual([path, true]);
        response.destroy();
      }
    for (const role of ['admin', 'developer', 'agent', 'viewer'] as const) {
      const response = await begin('/api/auth/export', asPage(await team.makeMember(role)));
      expect([role, response.statusCode]).toEqual([role, 403]);
      response.destroy();
    }
  });

  test('to the page of another site, and to a session that is not fresh', async () => {
    const foreign = { ...asPage(team.owner), 'sec-fetch-site': 'cross-site' };
    const from = { ...asPage(team.owner), origin: 'https://evil.test' };
    for (const headers of [foreign, from]) {
      const response = await begin('/api/auth/export', headers);
      expect(response.statusCode).toBe(403);
      response.destroy();
    }
    await sql(
      `update auth_session set confirmed_at = now() - interval '6 minutes' where person_id = $1`,
      team.owner.personId,
    );
    await expect
      .poll(
        async () => {
          const response = await begin('/api/auth/export', asPage(team.owner));
          response.destroy();
          return response.statusCode;
        },
        { timeout: 10_000 },
      )
      .toBe(403);
  });
});
