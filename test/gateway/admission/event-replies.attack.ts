import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SendPolicy } from '../../../core/sending/send-policy.ts';
import { type GatewayMail, takeMail } from '../../support/rows/gateway-mail.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';

/*
 * Whoever writes an invitation chooses the address of its organizer, and the reply goes there. So it is mail like any other: no key reaches a
 * stranger by answering an invitation that it may not write to, over any interface.
 */

let gateway: TestGateway;
let mail: GatewayMail;
let box: TestMailbox;
let rival: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  mail = await takeMail(gateway);
  box = await gateway.mailbox();
  rival = await gateway.mailbox();
});
afterAll(async () => {
  await mail.stop();
  await gateway.close();
});

const STRANGER = 'victim@stranger.test';
let count = 0;

function invitation(organizer: string): string {
  const uid = `event-${count++}@elsewhere.test`;
  return [
    'From: Ann <ann@elsewhere.test>',
    `To: ${box.address}`,
    'Subject: Meeting',
    `Message-ID: <${uid}>`,
    'MIME-Version: 1.0',
    'Content-Type: text/calendar; method=REQUEST; charset=utf-8',
    '',
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//test//',
    'METHOD:REQUEST',
    'BEGIN:VEVENT',
    `UID:${uid}`,
    'DTSTAMP:20261129T100000Z',
    'DTSTART:20301210T100000Z',
    'DTEND:20301210T110000Z',
    'SUMMARY:Meeting',
    `ORGANIZER:mailto:${organizer}`,
    `ATTENDEE;RSVP=TRUE:mailto:${box.address}`,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ].join('\r\n');
}
async function receive(organizer: string): Promise<string> {
  const id = await mail.deliver(invitation(organizer), box.address);
  await expect.poll(async () => (await gateway.call(box.apiKey, 'GET', `/emails/${id}`)).statusCode).toBe(200);
  return id;
}
const key = async (scopes: readonly ('read' | 'send' | 'manage')[], policy?: Partial<SendPolicy>) => {
  const made = await gateway.call(box.apiKey, 'POST', '/api-keys', { name: 'x', scopes, ...(policy && { policy }) });
  expect(made.statusCode, made.body).toBe(201);
  return made.json().token as string;
};
const sentTo = async (address: string) =>
  (
    await gateway.owner.pool.query(
      `select e.status from email e join recipient r on r.workspace_id = e.workspace_id and r.email_id = e.id
       where e.workspace_id = any ($1) and r.address = $2`,
      [[box.workspaceId, rival.workspaceId], address],
    )
  ).rows.map(({ status }) => status as string);

/** Answers the invitation over each interface, and returns whether each refused. */
async function respond(secret: string, emailId: string, more: object = {}): Promise<string[]> {
  const rest = await gateway.call(secret, 'POST', `/emails/${emailId}/event-reply`, { response: 'accepted', ...more });
  const graph = await gateway.graphql(
    secret,
    'mutation($input: ReplyToEventInput!) { replyToEvent(input: $input) { __typename } }',
    { input: { emailId, response: 'ACCEPTED', ...more } },
  );
  const client = await connectInjected(gateway, secret);
  const tool = await client
    .callTool({ name: 'reply_to_event', arguments: { email_id: emailId, response: 'accepted', ...more } })
    .then(({ isError }) => (isError === true ? 'refused' : 'sent'))
    .catch(() => 'refused');
  await client.close();
  const isGraphSent = graph.json().data?.replyToEvent?.__typename === 'ReplyToEventPayload';
  return [rest.statusCode === 200 ? 'sent' : 'refused', isGraphSent ? 'sent' : 'refused', tool];
}
const REFUSED = ['refused', 'refused', 'refused'];
const SENT = ['sent', 'sent', 'sent'];

describe('the reply to an invitation', () => {
  test.each([
    ['with send alone', ['send'], undefined],
    ['with read alone', ['read'], undefined],
    ['with manage and read', ['manage', 'read'], undefined],
    ['whose policy allows participants', ['read', 'send'], { recipients: 'participants' }],
    ['whose policy allows a list', ['read', 'send'], { recipients: 'list', allow: ['@elsewhere.test'] }],
  ] as const)('does not reach the organizer from a key %s', async (_what, scopes, policy) => {
    const organizer = `victim-${count++}@stranger.test`;
    const id = await receive(organizer);
    expect(await respond(await key(scopes, policy as Partial<SendPolicy>), id)).toEqual(REFUSED);
    expect(await sentTo(organizer)).toEqual([]);
  });

  test('reaches an organizer who is a participant, or on the list', async () => {
    const id = await receive('ann@elsewhere.test');
    expect(await respond(await key(['read', 'send'], { recipients: 'participants' }), id)).toEqual(SENT);
    expect(await respond(await key(['read', 'send'], { recipients: 'list', allow: ['@elsewhere.test'] }), id)).toEqual(
      SENT,
    );
  });

  test('waits for approval, and counts against the emails per hour, as other mail of the key does', async () => {
    const organizer = `victim-${count++}@stranger.test`;
    const id = await receive(organizer);
    expect(await respond(await key(['read', 'send'], { approval: 'always' }), id)).toEqual(SENT);
    expect(await sentTo(organizer)).toEqual(Array.from({ length: 3 }, () => 'awaiting_approval'));
    const few = await key(['read', 'send'], { per_hour: 1 } as Partial<SendPolicy>);
    expect(await respond(few, id)).toEqual(['sent', 'refused', 'refused']);
  });

  test('makes no stranger a participant, however the key wrote the invitation itself', async () => {
    const limited = await key(['read', 'send'], { recipients: 'participants' });
    const simulated = await gateway.call(box.apiKey, 'POST', '/emails/simulate', {
      raw: invitation(STRANGER),
      to: box.address,
    });
    expect(simulated.statusCode, simulated.body).toBe(200);
    const own = await mail.deliver(invitation(STRANGER).replace('ann@elsewhere.test', box.address), box.address);
    for (const id of [simulated.json().id as string, own]) expect(await respond(limited, id), id).toEqual(REFUSED);
    // A reply with full rights does not open the thread to the stranger for the limited key.
    expect(await respond(await key(['read', 'send', 'manage'], undefined), own)).toEqual(SENT);
    expect(await sentTo(STRANGER)).toHaveLength(3);
  });

  test('is unknown to another account and to a key of another address, and no other sender is taken', async () => {
    const organizer = `victim-${count++}@stranger.test`;
    const id = await receive(organizer);
    const domain = box.address.split('@')[1] ?? '';
    const other = `other-${count++}@${domain}`;
    const made = await gateway.call(box.apiKey, 'POST', '/email-addresses', {
      address: other,
      domain_id: box.domainId,
    });
    expect(made.statusCode, made.body).toBe(201);
    const inbox = await insertKey(gateway.owner, box, { scopes: ['read', 'send'], addresses: [other] });
    expect(await respond(inbox.secret, id, { from: other })).toEqual(REFUSED);
    expect(await respond(rival.apiKey, id)).toEqual(REFUSED);
    expect(await respond(rival.apiKey, id, { from: rival.address })).toEqual(REFUSED);
    expect(await respond(box.apiKey, id, { from: rival.address })).toEqual(REFUSED);
    expect(await sentTo(organizer)).toEqual([]);
  });
});
