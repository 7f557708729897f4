import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GatewayMail, takeMail } from '../../support/rows/gateway-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let mail: GatewayMail;
let url: string;
beforeAll(async () => {
  gateway = await openTestGateway();
  mail = await takeMail(gateway);
  url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await mail.stop();
  await gateway.close();
});

const wait = async (box: TestMailbox, body: object) => {
  const response = await gateway.call(box.apiKey, 'POST', '/emails/wait', body);
  return { status: response.statusCode, body: response.json() };
};
const message = (subject: string, text = 'Hello', more = '') =>
  `From: Shop <noreply@mail.shop.example>\nTo: x@y.test\nSubject: ${subject}\n${more}\n${text}\n`;
/** Resolves when a request waits for mail of the user. */
const awaited = (count: number) => expect.poll(() => gateway.app.events.size()).toBe(count);

test('returns the first matching email, once it has a thread, with its codes and links', async () => {
  const box = await gateway.mailbox();
  const before = gateway.app.events.size();
  const waiting = wait(box, { from: 'mail.shop.example', subject: 'YOUR code', timeout: 60 });
  await awaited(before + 1);
  await mail.deliver(message('Something else'), box.address);
  const emailId = await mail.deliver(
    message(
      'Your code',
      'It is 482913. Or follow https://shop.example/verify?t=1.',
      'List-Unsubscribe: <https://shop.example/u>\n',
    ),
    box.address,
  );
  const { status, body } = await waiting;
  expect(status).toBe(200);
  const shown = await gateway.call(box.apiKey, 'GET', `/emails/${emailId}`);
  expect(body).toEqual({
    object: 'wait',
    timed_out: false,
    email: shown.json(),
    codes: [{ code: '482913', found_in: ['text'], likelihood: expect.any(Number) }],
    links: [
      { url: 'https://shop.example/verify?t=1', text: null, found_in: ['text'], is_unsubscribe: false },
      { url: 'https://shop.example/u', text: null, found_in: ['header'], is_unsubscribe: true },
    ],
    event: null,
  });
  expect(body.email.thread_id).toMatch(/^th_/);
});

test('returns the event of an invitation, as the email and the graph show it', async () => {
  const box = await gateway.mailbox();
  const since = new Date().toISOString();
  const calendar =
    'BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:one@shop.example\nSUMMARY:Kick-off\nDTSTART;TZID=W. Europe Standard Time:20261201T100000\n' +
    'DURATION:PT1H\nATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:x@y.test\nEND:VEVENT\nEND:VCALENDAR\n';
  const fields = 'Content-Type: text/calendar; method=REQUEST\n';
  const emailId = await mail.deliver(message('Invitation', calendar, fields), box.address);
  const event = {
    method: 'REQUEST',
    uid: 'one@shop.example',
    sequence: 0,
    status: null,
    summary: 'Kick-off',
    location: null,
    start: '2026-12-01T09:00:00.000Z',
    end: '2026-12-01T10:00:00.000Z',
    time_zone: 'Europe/Berlin',
    is_all_day: false,
    organizer: null,
    attendees: [{ name: null, address: 'x@y.test', status: 'needs-action' }],
    recurrence: null,
    recurrence_id: null,
  };
  const { body } = await wait(box, { since, timeout: 60 });
  expect(body.event).toEqual(event);
  expect(body.email).toMatchObject({ id: emailId, event, attachments: [{ contentType: 'text/calendar' }] });
  expect(body.email.attachments[0]).not.toHaveProperty('event');
  const query =
    'query($id: ID!) { email(id: $id) { extracts { event { method timeZone start attendees { status } } } } }';
  const shown = (await gateway.graphql(box.apiKey, query, { id: emailId })).json();
  expect(shown.data.email.extracts.event).toEqual({
    method: 'REQUEST',
    timeZone: 'Europe/Berlin',
    start: '2026-12-01T09:00:00.000Z',
    attendees: [{ status: 'NEEDS_ACTION' }],
  });
});

test('without a time, earlier mail does not count; with one it does', async () => {
  const box = await gateway.mailbox();
  const since = new Date().toISOString();
  const first = await mail.deliver(message('One'), box.address);
  const second = await mail.deliver(message('Two'), box.address);
  expect((await wait(box, { since, timeout: 60 })).body.email.id).toBe(first);
  expect((await wait(box, { since, subject: 'two', timeout: 60 })).body.email.id).toBe(second);
  expect((await wait(box, { timeout: 0 })).body).toEqual({
    object: 'wait',
    timed_out: true,
    email: null,
    codes: [],
    links: [],
    event: null,
  });
  const { status, body } = await wait(box, { since: '2020-01-01T00:00:00Z' });
  expect([status, body.details[0].field]).toEqual([400, 'since']);
});

test('emails that the caller has do not match, found before or while it waits', async () => {
  const box = await gateway.mailbox();
  const since = new Date().toISOString();
  const first = await mail.deliver(message('One'), box.address);
  const second = await mail.deliver(message('Two'), box.address);
  const readId = async (except: string[]) =>
    (await wait(box, { since, except_email_ids: except, timeout: 60 })).body.email.id as string;
  expect([await readId([]), await readId([first]), await readId([second])]).toEqual([first, second, first]);
  const waiting = wait(box, { since, except_email_ids: [first, second], timeout: 60 });
  const third = await mail.deliver(message('Three'), box.address);
  expect((await waiting).body.email.id).toBe(third);
  const query =
    'query($since: DateTime, $ids: [ID!]) { waitForEmail(since: $since, exceptEmailIds: $ids, timeout: 60) { id } }';
  const found = (await gateway.graphql(box.apiKey, query, { since, ids: [first] })).json();
  expect(found.data.waitForEmail.id).toBe(second);
  for (const except of ['em_x', Array(101).fill('em_x'), ['x'.repeat(200)], [7], ['a\0']]) {
    const refused = await wait(box, { since, except_email_ids: except, timeout: 0 });
    expect([refused.status, refused.body.details[0].field]).toEqual([400, expect.stringMatching(/^except_email_ids/)]);
  }
});

test('the address can have a plus tag or be an ID; the domain is a name or an ID', async () => {
  const box = await gateway.mailbox();
  const since = new Date().toISOString();
  const [local, domain] = box.address.split('@');
  const tagged = await mail.deliver(message('Tagged'), `${local}+42@${domain}`);
  const plain = await mail.deliver(message('Plain'), box.address);
  for (const [filter, id] of [
    [{ address: `${local}+42@${domain}` }, tagged],
    [{ address: box.address, subject: 'plain' }, plain],
    [{ address: box.addressId, subject: 'plain' }, plain],
    [{ domain, subject: 'plain' }, plain],
    [{ domain: box.domainId, subject: 'plain' }, plain],
    [{ from: 'NOREPLY@mail.shop.example', subject: 'plain' }, plain],
    [{ from: '@mail.shop.example', subject: 'plain' }, plain],
    [{ subject: 'PLAI' }, plain],
  ] as const)
    expect((await wait(box, { ...filter, since, timeout: 60 })).body.email?.id, JSON.stringify(filter)).toBe(id);
  for (const filter of [{ address: `${local}+43@${domain}` }, { from: 'shop.example' }, { subject: 'p%n' }])
    expect((await wait(box, { ...filter, since, timeout: 0 })).body.timed_out, JSON.stringify(filter)).toBe(true);
});

test('mail of another user ends no wait, and names and IDs of another are refused as unknown', async () => {
  const [box, other] = [await gateway.mailbox(), await gateway.mailbox()];
  const since = new Date().toISOString();
  await mail.deliver(message('Theirs'), other.address);
  expect((await wait(other, { since, timeout: 60 })).body.timed_out).toBe(false);
  expect((await wait(box, { since, timeout: 0 })).body.timed_out).toBe(true);
  const foreign = 'This domain is not one of yours.';
  for (const [filter, message] of [
    [{ address: other.address }, foreign],
    [{ address: other.addressId }, 'You have no such address'],
    [{ domain: other.domainId }, foreign],
    [{ domain: other.address.split('@')[1] }, foreign],
  ] as const) {
    const { status, body } = await wait(box, { ...filter, since, timeout: 60 });
    expect([status, body.details[0].field]).toEqual([400, Object.keys(filter)[0]]);
    expect(body.details[0].message).toContain(message);
    expect(body.details[0].message).toContain(`Addresses that receive mail: ${box.address}.`);
  }
});

describe('a wait that no mail can end is refused at once', () => {
  const start = async (options: Parameters<TestGateway['mailbox']>[0], address: (box: TestMailbox) => string) => {
    const box = await gateway.mailbox(options);
    return { box, ...(await wait(box, { address: address(box), timeout: 60 })) };
  };
  const ghost = ({ address }: TestMailbox) => `ghost@${address.split('@')[1]}`;

  test.for([
    ['an address that its domain does not have', {}, ghost, 'You have no such address'],
    ['a tag of such an address', {}, (box: TestMailbox) => ghost(box).replace('@', '+1@'), 'You have no such address'],
    ['text that is no address', {}, () => 'no address@', 'You have no such address'],
    ['a disabled address', { isActive: false }, ({ address }: TestMailbox) => address, 'This address is disabled'],
    ['a disabled address by ID', { isActive: false }, (box: TestMailbox) => box.addressId, 'This address is disabled'],
    [
      'an address of a domain that is not verified',
      { domainStatus: 'pending' },
      ({ address }: TestMailbox) => address,
      'This domain receives no mail until it is verified',
    ],
  ] as const)('for %s', async ([, options, address, text]) => {
    const { status, body } = await start(options, address);
    expect([status, body.details[0].field]).toEqual([400, 'address']);
    expect(body.details[0].message).toContain(text);
  });

  test('but not for an address of a domain with a catch-all, nor for a reply address', async () => {
    const box = await gateway.mailbox({ isCatchAllEnabled: true });
    expect((await wait(box, { address: ghost(box), timeout: 0 })).status).toBe(200);
    const replying = await gateway.mailbox();
    const domain = replying.address.split('@')[1];
    const made = await gateway.call(replying.apiKey, 'POST', '/reply-addresses', { domain });
    expect(made.json().address).toMatch(/^reply\+/);
    expect((await wait(replying, { address: made.json().address, timeout: 0 })).status).toBe(200);
  });

  test('and earlier mail of an address is still found after it was disabled', async () => {
    const box = await gateway.mailbox();
    const since = new Date().toISOString();
    const emailId = await mail.deliver(message('Before'), box.address);
    await gateway.call(box.apiKey, 'PATCH', `/email-addresses/${box.addressId}`, { isActive: false });
    expect((await wait(box, { address: box.address, since, timeout: 60 })).body.email?.id).toBe(emailId);
  });
});

test('an unknown field, which would widen the filter, is refused', async () => {
  const box = await gateway.mailbox();
  const { status, body } = await wait(box, { adress: box.address, timeout: 60 });
  expect([status, body.details]).toEqual([400, [{ field: 'adress', message: 'Unknown field' }]]);
});

test('disconnecting ends a wait at once', async () => {
  const box = await gateway.mailbox();
  const before = gateway.app.events.size();
  const hangUp = new AbortController();
  const waiting = fetch(`${url}/api/e2/emails/wait`, {
    method: 'POST',
    headers: { authorization: `Bearer ${box.apiKey}`, 'content-type': 'application/json' },
    body: '{"timeout": 60}',
    signal: hangUp.signal,
  }).catch(() => null);
  await awaited(before + 1);
  hangUp.abort();
  expect(await waiting).toBeNull();
  await awaited(before);
});

test.each([
  [{ timeout: 301 }, 'timeout'],
  [{ timeout: -1 }, 'timeout'],
  [{ address: ' ' }, 'address'],
  [{ subject: 'x'.repeat(401) }, 'subject'],
  [{ since: 'yesterday' }, 'since'],
])('%j is refused', async (body, field) => {
  const box = await gateway.mailbox();
  const response = await wait(box, body);
  expect([response.status, response.body.details[0].field]).toEqual([400, field]);
});
