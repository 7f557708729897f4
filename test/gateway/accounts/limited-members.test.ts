import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import type { BrowserSession } from '../../support/stages/browser-session.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';

let gateway: TestGateway;
let team: TeamStage;
/** sees one of two domains */
let ofDomain: TeamPerson;
/** sees one of two addresses */
let ofAddress: TeamPerson;
let ids: Record<'hello' | 'sales' | 'other', string>;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  team = await openTeam(gateway, 'limits');
  const { workspaceId } = team.box;
  await gateway.mailbox({ workspaceId, domain: 'other.test' });
  await gateway.mailbox({ workspaceId, domain: 'limits.test', address: 'sales@limits.test' });
  const [hello = '', sales = '', other = ''] = await insertMail(gateway.owner, [
    { workspaceId, ownAddress: 'hello@limits.test', subject: 'Hello' },
    { workspaceId, ownAddress: 'sales@limits.test', subject: 'Sales' },
    { workspaceId, ownAddress: 'hello@other.test', subject: 'Other' },
  ]);
  ids = { hello, sales, other };
  ofDomain = await team.makeMember('agent', { domains: ['limits.test'] });
  ofAddress = await team.makeMember('viewer', { addresses: ['SALES@limits.test'] });
});
afterAll(() => gateway.close());

const subjects = async (browser: BrowserSession) =>
  (await browser.rest('GET', '/emails'))
    .json()
    .data.map(({ subject }: { subject: string }) => subject)
    .toSorted((a: string, b: string) => (a < b ? -1 : 1));

describe('a member who is limited', () => {
  test('to a domain sees its mail and no other, in lists, counts and by ID', async () => {
    const { browser } = ofDomain;
    expect(await subjects(browser)).toEqual(['Hello', 'Sales']);
    const counted = (await browser.graphql('{ emails { totalCount } domains { totalCount } }')).json().data;
    expect(counted).toEqual({ emails: { totalCount: 2 }, domains: { totalCount: 1 } });
    expect((await browser.rest('GET', `/emails/${ids.hello}`)).statusCode).toBe(200);
    expect((await browser.rest('GET', `/emails/${ids.other}`)).statusCode).toBe(404);
  });

  test('to an address sees its mail and no other of the same domain', async () => {
    const { browser } = ofAddress;
    expect(await subjects(browser)).toEqual(['Sales']);
    expect((await browser.graphql('{ emails { totalCount } }')).json().data).toEqual({ emails: { totalCount: 1 } });
    expect((await browser.rest('GET', `/emails/${ids.hello}`)).statusCode).toBe(404);
    expect((await browser.rest('GET', `/emails?search=Hello`)).json().data).toEqual([]);
  });

  test('reads the own person with the role, and no other member', async () => {
    const { browser, email } = ofAddress;
    const { person } = (await browser.graphql('{ viewer { person { email role rights } } }')).json().data.viewer;
    expect(person).toEqual({ email, role: 'VIEWER', rights: ['read', 'notes'] });
    expect((await browser.rest('GET', '/members')).statusCode).toBe(403);
  });

  test('sends from the own domain only, as an agent', async () => {
    const mail = { to: ['bob@elsewhere.test'], subject: 'Hi', text: 'Hi' };
    const send = (from: string) => ofDomain.browser.rest('POST', '/emails', {}, { from, ...mail });
    expect((await send('hello@limits.test')).statusCode).toBe(200);
    expect((await send('hello@other.test')).statusCode).toBe(403);
  });

  test('sees nothing after the domain was deleted', async () => {
    const one = await gateway.mailbox({ workspaceId: team.box.workspaceId, domain: 'short.test' });
    const { browser } = await team.makeMember('viewer', { domains: [one.domainId] });
    expect((await browser.graphql('{ domains { totalCount } }')).json().data.domains.totalCount).toBe(1);
    await gateway.owner.pool.query('delete from domain where id = $1', [one.domainId]);
    gateway.bus.publish('credential.changed', { ownerId: team.box.workspaceId });
    expect(await subjects(browser)).toEqual([]);
    expect((await browser.graphql('{ domains { totalCount } }')).json().data.domains.totalCount).toBe(0);
  });

  test('has the limits of a change at once', async () => {
    const { browser, personId } = await team.makeMember('viewer');
    expect(await subjects(browser)).toContain('Other');
    const change = { role: 'viewer', domains: ['limits.test'] };
    const changed = await team.owner.browser.rest('PATCH', `/members/${personId}`, {}, change);
    expect(changed.json()).toMatchObject({ limits: { addresses: [] } });
    expect(await subjects(browser)).not.toContain('Other');
  });

  test('leaves the workspace', async () => {
    const { browser } = await team.makeMember('viewer', { addresses: ['sales@limits.test'] });
    const left = await browser.rest('POST', '/members/leave', {}, { workspace_id: team.box.workspaceId });
    expect(left.statusCode).toBe(200);
  });
});

describe('what a limited member sees live and at a glance', () => {
  /** Opens a stream with the session, and returns what came so far. */
  async function follow(browser: BrowserSession, path: string, body?: object): Promise<() => string> {
    const asked = request(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        host: 'postroom.test',
        ...(body === undefined ? {} : { origin: 'http://postroom.test', 'content-type': 'application/json' }),
        'sec-fetch-site': 'same-origin',
        accept: 'text/event-stream',
        cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
    });
    closing.push(() => asked.destroy());
    asked.on('error', () => undefined);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.on('error', () => undefined);
    return () => text;
  }
  const closing: (() => void)[] = [];
  let url: string;

  beforeAll(async () => {
    url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => {
    for (const close of closing) close();
  });

  /** A mail that comes to an address, with its thread and event. */
  async function receive(ownAddress: string, subject: string): Promise<string> {
    const { workspaceId } = team.box;
    const threadId = `th_${randomBytes(16).toString('hex')}`;
    const [id = ''] = await insertMail(gateway.owner, [
      { workspaceId, ownAddress, subject, threadId, threadPosition: 1 },
    ]);
    const events = JSON.stringify([
      { id: `evt_${id}`, kind: 'email.threaded', emailId: id, threadId, data: { type: 'received' } },
    ]);
    const { rows } = await gateway.owner.pool.query('select append_events($1, $2) as last_seq', [workspaceId, events]);
    gateway.bus.publish('event.appended', { workspaceId, lastSeq: rows[0].last_seq });
    return id;
  }

  test.each(['domain', 'address'])(
    'has nothing outside of the %s, in streams, subscriptions, counts and searches',
    async (limit) => {
      const { browser } = limit === 'domain' ? ofDomain : ofAddress;
      const mark = `glimpse${limit}`;
      const streams = [
        await follow(browser, '/api/e2/events'),
        await follow(browser, '/graphql', {
          query: 'subscription { events { kind email { id subject } thread { id } } }',
        }),
        await follow(browser, '/graphql', { query: 'subscription { emailReceived { email { id subject } } }' }),
      ];
      const glance = async () =>
        (
          await browser.graphql(
            `{ emails { totalCount } threads { totalCount } found: emails(search: "${mark}") { totalCount nodes { id } } }`,
          )
        ).json();
      const before = await glance();
      expect(before.errors).toBeUndefined();
      const foreign = await receive('hello@other.test', `${mark} foreign`);
      const own = await receive('sales@limits.test', `${mark} own`);
      for (const text of streams) await expect.poll(text).toContain(own);
      for (const text of streams) {
        expect(text()).not.toContain(foreign);
        expect(text()).not.toContain('foreign');
      }
      // Sent mail is searchable as it is stored.
      const send = async (from: string, subject: string): Promise<string> => {
        const body = { from, to: ['bob@elsewhere.test'], subject: `${mark} ${subject}`, text: subject };
        const sent = await gateway.call(team.box.apiKey, 'POST', '/emails', body);
        expect(sent.statusCode, sent.body).toBe(200);
        return sent.json().id;
      };
      await send('hello@other.test', 'foreign');
      const sent = await send('sales@limits.test', 'own');
      const after = await glance();
      expect(after.data.emails.totalCount).toBe(before.data.emails.totalCount + 2);
      expect(after.data.found).toEqual({ totalCount: 1, nodes: [{ id: sent }] });
      const listed = await browser.rest('GET', '/events?limit=100');
      expect(listed.body).toContain(own);
      expect(listed.body).not.toContain(foreign);
      for (const path of [`/emails?search=${mark}`, `/mail/threads?search=${mark}`, '/contacts', '/mail/labels'])
        expect((await browser.rest('GET', path)).body, path).not.toContain('foreign');
      // Exports, and the log of requests with what others asked for, are of the whole workspace.
      for (const path of ['/audit', '/audit/export', '/requests', '/members'])
        expect((await browser.rest('GET', path)).statusCode, path).toBe(403);
      expect((await browser.auth('GET', '/export')).statusCode).toBe(403);
    },
  );
});
