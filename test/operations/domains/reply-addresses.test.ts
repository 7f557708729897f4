import { afterAll, beforeAll, expect, test } from 'vitest';
import { deriveReplyAddressKey, makeReplyAddress } from '../../../core/smtp/reply-address.ts';
import {
  createReplyAddress,
  listReplyAddresses,
  type NewReplyAddress,
  type ReplyAddress,
  readReplyAddress,
  revokeReplyAddress,
} from '../../../operations/domains/reply-addresses.ts';
import { mergeThreads } from '../../../operations/threads/thread-moves.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { testSecretKey } from '../../support/rows/sent-mail.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { type MailStage, openMailStage } from '../../support/stages/mail-stage.ts';

let stage: MailStage;
let receiver: WebhookReceiver;
let box: TestMailbox;
let domain: string;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  stage = await openMailStage();
  box = await stage.mailbox({ endpointUrl: receiver.url });
  domain = box.address.split('@')[1] ?? '';
});
afterAll(async () => {
  await stage?.close();
  await receiver?.stop();
});

const create = (input: Partial<NewReplyAddress> = {}) =>
  createReplyAddress(stage.makeContext(box.workspaceId), { domain, ...input });

let written = 0;
function mail({ from = 'ann@elsewhere.test', subject = 'A question', fields = '', name = '' } = {}): Buffer {
  written += 1;
  const head = `From: ${from}\r\nSubject: ${subject}\r\nMessage-ID: <${name || written}@elsewhere.test>\r\n${fields}`;
  return Buffer.from(`${head}\r\nHello ${written}\r\n`);
}

/** Delivers as SMTP does; the reply's text when it is refused. */
const offer = (to: string, bytes = mail(), reversePath = 'ann@elsewhere.test') =>
  stage.deliver(bytes, to, reversePath).then(
    () => 'accepted',
    (error: unknown) => (error as Error).message,
  );

async function readEmail(emailId: string) {
  await stage.settled();
  const { rows } = await stage.database.pool.query(
    `select e.metadata, e.own_address, e.address_id, e.recipient, e.thread_id, e.thread_reason, e.thread_position, r.outcome, r.via
     from email e join route r on r.workspace_id = e.workspace_id and r.email_id = e.id where e.id = $1`,
    [emailId],
  );
  return rows[0];
}

const read = ({ id }: ReplyAddress) => readReplyAddress(stage.makeContext(box.workspaceId), id);

test('mail carries the metadata of the address, also in its webhook', async () => {
  const metadata = { order: 4711, tags: ['a', 'ü'] };
  const { address } = await create({ metadata, deliverTo: box.address });
  expect(address).toMatch(new RegExp(`^reply\\+[a-z2-7]{58}@${domain}$`));
  const emailId = await stage.deliver(mail(), address.toUpperCase());
  const email = await readEmail(emailId);
  expect(email).toMatchObject({ metadata, own_address: box.address, address_id: box.addressId, via: 'address' });
  await receiver.until(() => receiver.requests.length > 0);
  const payload = JSON.parse(receiver.requests.at(-1)?.body.toString() ?? '') as { email: object };
  expect(payload.email).toMatchObject({ id: emailId, metadata, recipient: address.toUpperCase() });
});

test('without a receiving address, mail is routed like mail to the catch-all, and stored without one', async () => {
  const { address } = await create();
  const email = await readEmail(await stage.deliver(mail(), address));
  expect(email).toMatchObject({ metadata: null, own_address: `reply@${domain}`, address_id: null, outcome: 'stored' });
});

test('an address with a signature of another key is ordinary: refused, or accepted by the address reply@', async () => {
  const { id } = await create();
  const forged = makeReplyAddress(deriveReplyAddressKey(Buffer.alloc(32, 9)), { id, expiresAt: null }, domain);
  expect(await offer(forged)).toBe('No such mailbox');
  const other = await stage.mailbox({ address: 'reply@taken.test', domain: 'taken.test' });
  const tagged = await readEmail(await stage.deliver(mail(), forged.replace(domain, 'taken.test')));
  expect(tagged).toMatchObject({ address_id: other.addressId, metadata: null });
});

test('an address of another account that our key signed accepts nothing', async () => {
  const other = await stage.mailbox();
  const { id } = await create();
  const key = deriveReplyAddressKey(testSecretKey);
  const theirs = makeReplyAddress(key, { id, expiresAt: null }, other.address.split('@')[1] ?? '');
  expect(await offer(theirs)).toBe('No such mailbox');
});

test('mail joins the named thread without reference headers, wherever its own headers point', async () => {
  const root = await readEmail(await stage.deliver(mail({ subject: 'Order' }), box.address));
  const elsewhere = await readEmail(await stage.deliver(mail({ subject: 'Other', name: 'other' }), box.address));
  const { address, threadId } = await create({ threadId: root.thread_id });
  expect(threadId).toBe(root.thread_id);
  const plain = await readEmail(await stage.deliver(mail({ subject: 'Unrelated' }), address));
  expect(plain).toMatchObject({ thread_id: root.thread_id, thread_reason: 'reply-address', thread_position: 1 });
  const fields = 'In-Reply-To: <other@elsewhere.test>\r\n';
  const torn = await readEmail(await stage.deliver(mail({ subject: 'Re: Other', fields }), address));
  expect(torn.thread_id).toBe(root.thread_id);
  const { rows } = await stage.database.pool.query('select id from thread where id = any ($1)', [
    [root.thread_id, elsewhere.thread_id],
  ]);
  expect(rows).toHaveLength(2);
  // The address follows a merge.
  const merged = await mergeThreads(stage.makeContext(box.workspaceId), [elsewhere.thread_id, root.thread_id]);
  const later = await readEmail(await stage.deliver(mail({ subject: 'Later' }), address));
  expect(later.thread_id).toBe(merged);
});

test('an address without a thread leaves threading to the headers', async () => {
  const { address } = await create();
  const one = await readEmail(await stage.deliver(mail({ subject: 'One', from: 'a@x.test' }), address));
  const two = await readEmail(await stage.deliver(mail({ subject: 'Two', from: 'b@x.test' }), address));
  expect(two.thread_id).not.toBe(one.thread_id);
});

test('accepts exactly its maximum of messages at the same time, and counts a repeated one once', async () => {
  const made = await create({ maxMessages: 3 });
  const repeated = mail();
  expect(await offer(made.address, repeated)).toBe('accepted');
  const { workspaceId, addressId, domainId, address } = box;
  const recipients = [
    { workspaceId, addressId, domainId, ownAddress: address, recipient: made.address, replyAddressId: made.id },
  ];
  const session = { reversePath: 'ann@elsewhere.test', remoteAddress: '192.0.2.1', helo: '', isTls: false };
  const replies = await Promise.all(
    Array.from({ length: 40 }, () =>
      stage.bus.ask('receiving.message.accept', { ...session, recipients, traceFields: '' }, { bytes: mail() }),
    ),
  );
  expect(replies.filter(({ verdict }) => verdict === 'accepted')).toHaveLength(2);
  expect(replies.filter(({ verdict }) => verdict === 'refused')).toHaveLength(38);
  expect(await offer(made.address, repeated), 'the 250 may have been lost').toBe('accepted');
  expect(await offer(made.address, mail(), 'someone@new.test')).toBe('No such mailbox');
  expect(await read(made)).toMatchObject({ status: 'used_up', messageCount: 3 });
  const { rows } = await stage.database.pool.query('select from reception where reply_address_id = $1', [made.id]);
  expect(rows).toHaveLength(3);
});

test('the same new message offered many times at once counts once', async () => {
  const made = await create({ maxMessages: 2 });
  const bytes = mail();
  const replies = await Promise.all(Array.from({ length: 8 }, () => offer(made.address, bytes)));
  expect(new Set(replies)).toEqual(new Set(['accepted']));
  expect(await read(made)).toMatchObject({ status: 'active', messageCount: 1 });
});

test('accepts no mail once it has expired or is revoked', async () => {
  const expiring = await create({ expiresAt: new Date(Date.now() + 86_400_000) });
  expect(await offer(expiring.address)).toBe('accepted');
  const past = { id: expiring.id, expiresAt: new Date(Date.now() - 1) };
  expect(await offer(makeReplyAddress(deriveReplyAddressKey(testSecretKey), past, domain))).toBe('No such mailbox');
  await expect(create({ expiresAt: new Date(Date.now() - 1) })).rejects.toThrow('expires_at must be in the future');
  const revoked = await create();
  expect(await revokeReplyAddress(stage.makeContext(box.workspaceId), revoked.id)).toMatchObject({ status: 'revoked' });
  expect(await offer(revoked.address)).toBe('No such mailbox');
});

test('accepts mail of its senders only: envelope sender and From must both be allowed', async () => {
  const { address } = await create({ senders: ['ann@elsewhere.test', 'allowed.test'] });
  const from = (text: string) => mail({ from: text });
  expect(await offer(address, from('Ann <ann@elsewhere.test>'))).toBe('accepted');
  expect(await offer(address, from('bob@allowed.test'), 'bounces@allowed.test')).toBe('accepted');
  expect(await offer(address, from('ann@elsewhere.test'), ''), 'an automatic reply').toBe('accepted');
  for (const [text, reversePath] of [
    ['eve@elsewhere.test', 'ann@elsewhere.test'],
    ['ann@elsewhere.test', 'eve@elsewhere.test'],
    ['ann@elsewhere.test, eve@elsewhere.test', 'ann@elsewhere.test'],
    ['eve@elsewhere.test', ''],
    ['a@sub.allowed.test', 'a@allowed.test'],
    ['', 'ann@elsewhere.test'],
  ] as const)
    expect(await offer(address, from(text), reversePath), `${text} / ${reversePath}`).toBe('No such mailbox');
});

test('a message that one of several recipients refuses is stored for the others, and repeated', async () => {
  const made = await create({ maxMessages: 1 });
  await stage.deliver(mail(), made.address);
  const { workspaceId, addressId, domainId, address } = box;
  const own = { workspaceId, addressId, domainId };
  const ask = () =>
    stage.bus.ask(
      'receiving.message.accept',
      {
        reversePath: 'ann@elsewhere.test',
        recipients: [
          { ...own, recipient: address, ownAddress: address },
          { ...own, recipient: made.address, ownAddress: address, replyAddressId: made.id },
        ],
        remoteAddress: '192.0.2.1',
        helo: 'elsewhere.test',
        isTls: false,
        traceFields: '',
      },
      { bytes: Buffer.from('From: ann@elsewhere.test\r\nMessage-ID: <several@elsewhere.test>\r\n\r\nx\r\n') },
    );
  for (let time = 0; time < 2; time++)
    expect(await ask()).toMatchObject({ verdict: 'refused', code: 451, enhancedCode: '4.1.1' });
  await stage.settled();
  const { rows } = await stage.database.pool.query(
    `select recipient from email where message_id = '<several@elsewhere.test>'`,
  );
  expect(rows).toEqual([{ recipient: address }]);
});

test('knows only domains, addresses and threads of the account, and addresses of the domain', async () => {
  const other = await stage.mailbox();
  const theirs = await readEmail(await stage.deliver(mail(), other.address));
  const second = await stage.mailbox({ workspaceId: box.workspaceId });
  for (const input of [
    { domain: other.address.split('@')[1] ?? '' },
    { domain: other.domainId },
    { deliverTo: other.address },
    { deliverTo: other.addressId },
    { deliverTo: second.address },
    { threadId: theirs.thread_id },
  ])
    await expect(create(input), JSON.stringify(input)).rejects.toMatchObject({ code: 'not_found' });
  const named = await create({ domain: box.domainId, deliverTo: box.addressId });
  expect(named).toMatchObject({ domain, deliverTo: box.address });
});

test('lists its addresses newest first, of one domain or all, and leaves nothing when the domain is deleted', async () => {
  const other = await stage.mailbox();
  const context = stage.makeContext(other.workspaceId);
  const name = other.address.split('@')[1] ?? '';
  const made = [
    await createReplyAddress(context, { domain: name }),
    await createReplyAddress(context, { domain: name }),
  ];
  const page = { limit: 10, offset: 0 };
  const all = await listReplyAddresses(context, {}, page);
  expect(all).toMatchObject({ total: 2, rows: made.toReversed().map(({ id }) => ({ id })) });
  expect(await listReplyAddresses(context, { domain: name }, page)).toEqual(all);
  expect(await listReplyAddresses(context, { domain }, page)).toMatchObject({ total: 0 });
});
