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
