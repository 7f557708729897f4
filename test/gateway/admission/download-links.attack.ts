import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deriveDownloadLinkKey, makeDownloadLink } from '../../../core/endpoints/download-link.ts';
import { DAY_MS } from '../../../core/shared/durations.ts';
import { insertKey, type TestKey } from '../../support/rows/key-rows.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { ISSUER, openOauthStage } from '../../support/stages/oauth-stage.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';

/*
 * A signed link opens a file without a key, and never for longer than whom it was made for may read the file (docs/decisions/0252): whoever holds a
 * link, and whichever way the right is lost, by an interface or in the table alone.
 */

const SECRET_KEY = randomBytes(32);
const SECRET = 'xyzzy-the-password';
const ORIGIN = 'https://app.example.com';

let gateway: TestGateway;
let team: TeamStage;
let emailId: string;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0, secretKey: SECRET_KEY } });
  team = await openTeam(gateway, 'links');
});
beforeEach(async () => {
  const { workspaceId, address: ownAddress } = team.box;
  const raw = Buffer.from(`Subject: x\r\n\r\n${SECRET}\r\n`);
  [emailId = ''] = await insertMail(gateway.owner, [{ workspaceId, ownAddress, raw }]);
});
afterAll(() => gateway.close());

const sql = (text: string, ...values: unknown[]) => gateway.owner.pool.query(text, values);
const asOwner = async (method: string, path: string, body?: unknown) => {
  const response = await gateway.call(team.box.apiKey, method, path, body);
  expect(response.statusCode, response.body).toBeLessThan(300);
};
/** Returns whether the link shows the mail, to a program without credentials. */
async function opens(link: string): Promise<boolean> {
  const { pathname, search } = new URL(link, ISSUER);
  const { statusCode, body } = await gateway.app.inject({ method: 'GET', url: `${pathname}${search}` });
  expect([200, 401, 404]).toContain(statusCode);
  expect(body.includes(SECRET)).toBe(statusCode === 200);
  return statusCode === 200;
}
async function expectEnds(link: string, lose: () => Promise<unknown>): Promise<void> {
  expect(await opens(link)).toBe(true);
  await lose();
  expect(await opens(link)).toBe(false);
}
const linkIn = ({ statusCode, body }: { statusCode: number; body: string }): string => {
  expect(statusCode, body).toBe(200);
  return JSON.parse(body).raw.download_url;
};

describe('the link that an API key was shown ends when', () => {
  let key: TestKey;
  beforeEach(async () => {
    key = await insertKey(gateway.owner, team.box, { scopes: ['read', 'send'] });
  });
  test.each<[string, () => Promise<unknown>]>([
    ['the key is revoked', () => asOwner('DELETE', `/api-keys/${key.id}`)],
    ['the key expires', () => sql(`update api_key set expires_at = now() - interval '1 second' where id = $1`, key.id)],
    ['the key may only send', () => asOwner('PATCH', `/api-keys/${key.id}`, { scopes: ['send'] })],
    [
      'the key is limited to another address',
      () => sql(`update api_key set reach = '{"domains":[],"addresses":["other@links.test"]}' where id = $1`, key.id),
    ],
    ['the email is erased', () => sql('delete from email where id = $1', emailId)],
  ])('%s', async (_how, lose) => {
    await expectEnds(linkIn(await gateway.call(key.secret, 'GET', `/emails/receiving/${emailId}`)), lose);
  });

  test('the key lost its right in the payload of a delivery that it was shown', async () => {
    const { workspaceId } = team.box;
    const hook = await gateway.call(team.box.apiKey, 'POST', '/endpoints', {
      name: 'hook',
      type: 'webhook',
      config: { url: 'https://hook.links.test/' },
    });
    const id = `dlv_${randomBytes(16).toString('hex')}`;
    await sql(
      `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts, attempts_allowed, created_at, completed_at)
       values ($1, $2, $3, $4, 'webhook', 'failed', 1, 3, now(), now())`,
      workspaceId,
      id,
      emailId,
      hook.json().id,
    );
    const shown = await gateway.graphql(key.secret, `{ delivery(id: "${id}") { payload { text } } }`);
    const link = /"(http:[^"]*\/raw\?[^"]*)"/.exec(shown.json().data.delivery.payload.text)?.[1] ?? '';
    await expectEnds(link, () => asOwner('DELETE', `/api-keys/${key.id}`));
  });
});

describe('the link that a member was shown ends when the member', () => {
  test.each<[string, (person: TeamPerson) => Promise<unknown>]>([
    ['is removed', ({ personId }) => asOwner('DELETE', `/members/${personId}`)],
    ['is removed by a directory', ({ personId }) => sql('delete from workspace_member where person_id = $1', personId)],
    [
      'is limited to another address',
      ({ personId }) => asOwner('PATCH', `/members/${personId}`, { role: 'agent', addresses: ['other@links.test'] }),
    ],
  ])('%s', async (_how, lose) => {
    const agent = await team.makeMember('agent');
    await expectEnds(linkIn(await agent.browser.rest('GET', `/emails/receiving/${emailId}`)), () => lose(agent));
  });

  test('who made the key, or allowed the client, that was shown it is removed', async () => {
    for (const show of ['a key', 'a client']) {
      const developer = await team.makeMember('developer');
      const secret =
        show === 'a key'
          ? await team.insertPersonKey(developer)
          : (await openOauthStage(gateway).connect(developer.browser, { level: 'read' }, { resource: ISSUER }))
              .access_token;
      const link = linkIn(await gateway.call(secret, 'GET', `/emails/receiving/${emailId}`));
      await expectEnds(link, () => sql('delete from workspace_member where person_id = $1', developer.personId));
    }
  });
});

describe('the link that an endpoint was sent', () => {
  let setter: TestKey;
  let endpointId: string;
  const makeLink = (holder: string) => {
    const target = { workspaceId: team.box.workspaceId, emailId, part: 'raw', holder } as const;
    return makeDownloadLink(deriveDownloadLinkKey(SECRET_KEY), target, new Date(Date.now() + DAY_MS));
  };
  beforeEach(async () => {
    setter = await insertKey(gateway.owner, team.box, { scopes: ['read', 'manage'] });
    const made = await gateway.call(setter.secret, 'POST', '/endpoints', {
      name: 'hook',
      type: 'webhook',
      config: { url: 'https://hook.links.test/' },
    });
    endpointId = made.json().id;
  });
  test.each<[string, () => Promise<unknown>]>([
    ['the endpoint is deleted', () => asOwner('DELETE', `/endpoints/${endpointId}`)],
    ['the key that set it up is revoked', () => asOwner('DELETE', `/api-keys/${setter.id}`)],
    [
      'the key that set it up may only manage',
      () => asOwner('PATCH', `/api-keys/${setter.id}`, { scopes: ['manage'] }),
    ],
  ])('ends when %s', async (_how, lose) => {
    await expectEnds(makeLink(endpointId), lose);
  });

  test('works when the key is revoked and hands the endpoint over', async () => {
    await asOwner('DELETE', `/api-keys/${setter.id}?keep_configuration=true`);
    expect(await opens(makeLink(endpointId))).toBe(true);
  });

  test('opens nothing for an endpoint, a key or a member of another workspace', async () => {
    const other = await gateway.mailbox({ endpointUrl: 'https://hook.other.test/' });
    const key = await insertKey(gateway.owner, other, { scopes: null });
    for (const holder of [other.endpointId ?? '', key.id, (await team.makePerson()).personId, ''])
      expect([holder, await opens(makeLink(holder))]).toEqual([holder, false]);
  });
});

describe('the link that the page of a customer was shown ends when', () => {
  test.each<[string, (ids: { customer: string; parent: string }) => Promise<unknown>]>([
    ['the key of its token is revoked', ({ parent }) => asOwner('DELETE', `/api-keys/${parent}`)],
    [
      'the key of its token keeps no workspaces',
      ({ parent }) => sql(`update api_key set scopes = '{read}' where id = $1`, parent),
    ],
    [
      'its workspace is suspended',
      ({ customer }) => sql('update workspace set suspended_at = now() where id = $1', customer),
    ],
    ['its workspace is closed', ({ customer }) => sql('update workspace set erase_at = now() where id = $1', customer)],
  ])('%s', async (_how, lose) => {
    const parent = await insertKey(gateway.owner, team.box, { scopes: ['read', 'workspaces'] });
    const made = await gateway.call(parent.secret, 'POST', '/workspaces', {
      client_id: randomBytes(6).toString('hex'),
    });
    const { id: customer } = made.json();
    const token = await gateway.call(parent.secret, 'POST', `/workspaces/${customer}/tokens`, {
      rights: ['read'],
      origins: [ORIGIN],
    });
    const [id = ''] = await insertMail(gateway.owner, [{ workspaceId: customer, raw: Buffer.from(`\r\n${SECRET}`) }]);
    const headers = { origin: ORIGIN };
    const shown = await gateway.call(token.json().token, 'GET', `/emails/receiving/${id}`, undefined, headers);
    await expectEnds(linkIn(shown), () => lose({ customer, parent: parent.id }));
  });
});
