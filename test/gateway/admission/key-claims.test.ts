import { hash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SendPolicy } from '../../../core/sending/send-policy.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail, insertThread, type MailRow } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

/*
 * Facts that an API key writes itself prove nothing: neither about who takes part in a thread, for keys that may write to participants only,
 * nor about who may get a reply to mail that the key cannot read.
 */

const STRANGER = 'eve@stranger.test';

let gateway: TestGateway;
let box: TestMailbox;
let domain: string;

beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  box = await gateway.mailbox();
  domain = box.address.split('@')[1] ?? '';
});

const list = (...addresses: string[]) => ({
  text: addresses.join(', '),
  addresses: addresses.map((address) => ({ name: null, address })),
});
const fields = (given: Partial<Record<'from' | 'to' | 'cc' | 'bcc' | 'replyTo', string>>) => {
  const of = (address: string | undefined) => (address === undefined ? null : list(address));
  const { from, to, cc, bcc, replyTo } = given;
  return { from: of(from), to: of(to ?? box.address), cc: of(cc), bcc: of(bcc), replyTo: of(replyTo) };
};

interface Stored {
  id: string;
  threadId: string;
  messageId: string;
}

/** A thread that Ada began. */
async function conversation(): Promise<Stored> {
  const threadId = `th_${randomBytes(8).toString('hex')}`;
  const stored = await addTo(threadId, { addresses: fields({ from: 'ada@elsewhere.test' }), subject: 'Secret plans' });
  await insertThread(gateway.actor, {
    workspaceId: box.workspaceId,
    id: threadId,
    count: 1,
    lastMessageAt: new Date(Date.now() - 86_400_000),
    // What the thread's row lists comes from fields of any of its mail, too.
    participants: ['ada@elsewhere.test', box.address, STRANGER],
  });
  return stored;
}

/** Adds a message to a thread. */
async function addTo(threadId: string, row: Partial<MailRow>): Promise<Stored> {
  const messageId = `<${randomBytes(8).toString('hex')}@elsewhere.test>`;
  const mail = { workspaceId: box.workspaceId, ownAddress: box.address, threadId, messageId, ...row };
  const [id = ''] = await insertMail(gateway.actor, [mail]);
  await gateway.actor.pool.query(
    'insert into thread_message_id (workspace_id, message_id, thread_id) values ($1, $2, $3)',
    [box.workspaceId, messageId, threadId],
  );
  return { id, threadId, messageId };
}

/** Adds the reception of an email, as SMTP, a simulation or an import leaves it. */
const addReception = (id: string, { isTest, imported }: { isTest: boolean; imported: object | null }) =>
  gateway.owner.pool.query(
    `insert into reception (workspace_id, email_id, raw_id, reverse_path, recipient, own_address, domain_id, remote_address, helo, is_tls,
       trace_fields, accepted_at, parsed_at, is_test, imported)
     values ($1, $2, 'raw', '', $3, $3, $4, '', '', false, '', now(), now(), $5, $6)`,
    [box.workspaceId, id, box.address, box.domainId, isTest, imported],
  );

/** Adds mail that a list distributed. */
const addEcho = (threadId: string, messageId: string) =>
  insertMail(gateway.actor, [
    {
      workspaceId: box.workspaceId,
      ownAddress: box.address,
      threadId,
      messageId,
      addresses: fields({ from: 'list@elsewhere.test', cc: STRANGER }),
    },
  ]);

const addRecipient = (emailId: string, status: string) =>
  gateway.owner.pool.query(
    `insert into recipient (workspace_id, id, email_id, address, domain, status, created_at, settled_at)
     values ($1, $2, $3, $4, 'stranger.test', $5, now(), now())`,
    [box.workspaceId, `rcpt_${randomBytes(8).toString('hex')}`, emailId, STRANGER, status],
  );

/** Adds mail of the stranger that guard rules hold. */
async function addHeld(threadId: string, outcome: string): Promise<Stored> {
  const held = await addTo(threadId, { addresses: fields({ from: STRANGER }) });
  await gateway.owner.pool.query(
    `insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome, next_ask_at)
     values ($1, $2, now(), now(), now(), $3, now())`,
    [box.workspaceId, held.id, outcome],
  );
  return held;
}

const keyWith = (policy: SendPolicy) => insertKey(gateway.owner, box, { scopes: ['read', 'send'], policy });

const readOutcome = ({ statusCode, body }: { statusCode: number; body: string }) =>
  statusCode < 300 ? 'sent' : String(JSON.parse(body).rule ?? JSON.parse(body).code);

/** Ways by which the account, or one of its keys, puts a stranger into a thread. */
const CLAIMS: Record<string, (thread: Stored) => Promise<unknown>> = {
  'mail to itself with Reply-To': ({ threadId }) =>
    addTo(threadId, { from: box.address, addresses: fields({ from: box.address, replyTo: STRANGER }) }),
  'mail to itself with Cc, from another name of its domain': ({ threadId }) =>
    addTo(threadId, { addresses: fields({ from: `nobody@${domain.toUpperCase()}`, cc: STRANGER }) }),
  'mail to itself whose From also names another domain': ({ threadId }) =>
    addTo(threadId, {
      addresses: { ...fields({ cc: STRANGER }), from: list('ada@elsewhere.test', box.address) },
    }),
  'mail to itself whose author has its domain in another form': ({ threadId }) =>
    addTo(threadId, { addresses: fields({ from: `ada@${domain}.`, cc: STRANGER }) }),
  'mail to itself whose local part looks like an address of Ada': ({ threadId }) =>
    addTo(threadId, { addresses: { ...fields({ cc: STRANGER }), from: list(`"ada@elsewhere.test"@${domain}`) } }),
  'mail without an author': ({ threadId }) => addTo(threadId, { addresses: fields({ cc: STRANGER }) }),
  'a Cc field of submitted mail': ({ threadId }) =>
    addTo(threadId, {
      type: 'sent',
      from: box.address,
      addresses: fields({ from: box.address, to: 'ada@elsewhere.test', cc: STRANGER }),
    }),
  'a Reply-To of sent mail': ({ threadId }) =>
    addTo(threadId, {
      type: 'sent',
      from: box.address,
      addresses: fields({ from: box.address, to: 'ada@elsewhere.test', replyTo: STRANGER }),
    }),
  'simulated mail': async ({ threadId }) => {
    const { id } = await addTo(threadId, { addresses: fields({ from: STRANGER }) });
    await gateway.actor.pool.query('update email set is_test = true where id = $1', [id]);
  },
  'imported mail': async ({ threadId }) => {
    const { id } = await addTo(threadId, { addresses: fields({ from: STRANGER }) });
    await addReception(id, { isTest: false, imported: { isRead: true } });
  },
  'sent mail that comes back from a list, which writes another author into it': async ({ threadId }) => {
    const addresses = fields({ from: box.address, to: 'list@elsewhere.test', cc: STRANGER });
    const { messageId } = await addTo(threadId, { type: 'sent', from: box.address, addresses });
    await addEcho(threadId, messageId);
  },
  'sent mail that comes back with the Message-ID of a relay': async ({ threadId }) => {
    const { id } = await addTo(threadId, { type: 'sent', from: box.address });
    const [local, values] = [`relay-${randomBytes(8).toString('hex')}`, 'values ($1, $2, $3)'];
    await gateway.actor.pool.query(`insert into relayed_message_id (workspace_id, local_part, email_id) ${values}`, [
      box.workspaceId,
      local,
      id,
    ]);
    await addEcho(threadId, `<${local}@relay.test>`);
  },
  'scheduled mail that comes back before its time': async ({ threadId }) => {
    const { messageId } = await addTo(threadId, { type: 'scheduled', from: box.address });
    await addEcho(threadId, messageId);
  },
  'sent mail that bounced': async ({ threadId }) => {
    const { id } = await addTo(threadId, { type: 'sent', from: box.address, status: 'bounced' });
    await addRecipient(id, 'bounced');
  },
  'sent mail that failed': async ({ threadId }) => {
    const { id } = await addTo(threadId, { type: 'sent', from: box.address, status: 'failed' });
    await addRecipient(id, 'failed');
  },
  'scheduled mail': ({ threadId }) =>
    addTo(threadId, { type: 'scheduled', from: box.address, addresses: fields({ from: box.address, to: STRANGER }) }),
};

describe.each(Object.entries(CLAIMS))('%s', (_, claim) => {
  test('adds no participant to its thread for a key that may write to participants only', async () => {
    const thread = await conversation();
    await claim(thread);
    const { secret } = await keyWith({ recipients: 'participants' });
    const reply = (to: string[]) =>
      gateway.call(secret, 'POST', `/emails/${thread.id}/reply`, { from: box.address, text: 'x', to });
    expect(readOutcome(await reply([STRANGER]))).toBe('recipients');
    expect(readOutcome(await reply(['ada@elsewhere.test', STRANGER]))).toBe('recipients');
    expect(readOutcome(await reply(['ada@elsewhere.test', box.address]))).toBe('sent');
  });

  test('lets a key without read reply only to the author', async () => {
    const thread = await conversation();
    await claim(thread);
    const { secret } = await insertKey(gateway.owner, box, { scopes: ['send'] });
    const reply = (id: string, more: object) =>
      gateway.call(secret, 'POST', `/emails/${id}/reply`, { from: box.address, text: 'x', ...more });
    for (const id of [thread.id, thread.threadId])
      for (const more of [{ to: [STRANGER] }, { bcc: [STRANGER], to: ['ada@elsewhere.test'] }]) {
        const refused = await reply(id, more);
        expect([readOutcome(refused), refused.body.includes('Secret')]).toEqual(['insufficient_scope', false]);
      }
    const { rows } = await gateway.actor.pool.query(
      "select 1 from recipient where workspace_id = $1 and address = $2 and status = 'pending'",
      [box.workspaceId, STRANGER],
    );
    expect(rows).toEqual([]);
    expect(readOutcome(await reply(thread.id, { to: ['ada@elsewhere.test'] }))).toBe('sent');
  });
});

test('participants are the authors and recipients of received mail, and the recipients of sent mail', async () => {
  const { id, threadId } = await conversation();
  const fromBob = await addTo(threadId, {
    addresses: fields({ from: 'bob@away.test', cc: 'Carl@away.test', replyTo: 'desk@away.test' }),
  });
  await addReception(fromBob.id, { isTest: false, imported: null });
  const original = { from: box.address, text: 'x', to: ['dora@away.test'], bcc: ['fred@away.test'] };
  expect((await gateway.call(box.apiKey, 'POST', `/emails/${id}/reply`, original)).statusCode).toBe(200);
  const { secret } = await keyWith({ recipients: 'participants' });
  for (const name of ['bob', 'carl', 'desk', 'dora', 'fred']) {
    const to = [`${name}@away.test`];
    const sent = await gateway.call(secret, 'POST', `/emails/${id}/reply`, { from: box.address, text: 'x', to });
    expect([name, readOutcome(sent)]).toEqual([name, 'sent']);
  }
});

test.for(['blocked', 'review', 'asking'])(
  'the author of held mail (%s) is a participant once it is released, and may get a reply from a key without read',
  async (outcome) => {
    const { id, threadId } = await conversation();
    const held = await addHeld(threadId, outcome);
    const { secret } = await keyWith({ recipients: 'participants' });
    const reply = { from: box.address, text: 'x', to: [STRANGER] };
    const replyBy = async (key: string, emailId: string) =>
      readOutcome(await gateway.call(key, 'POST', `/emails/${emailId}/reply`, reply));
    expect(await replyBy(secret, id)).toBe('recipients');
    const sender = await insertKey(gateway.owner, box, { scopes: ['send'] });
    expect(await replyBy(sender.secret, id)).toBe('insufficient_scope');
    await gateway.owner.pool.query('update route set released_at = now() where workspace_id = $1', [box.workspaceId]);
    expect(await replyBy(secret, id)).toBe('sent');
    expect(await replyBy(sender.secret, held.id)).toBe('sent');
  },
);

test('a key that sends to itself with strangers in Reply-To and Cc does not make them participants', async () => {
  const { id, messageId } = await conversation();
  const { secret } = await keyWith({ recipients: 'participants' });
  const self = { from: box.address, to: [box.address], text: 'x', reply_to: STRANGER };
  expect(readOutcome(await gateway.call(secret, 'POST', `/emails/${id}/reply`, self))).toBe('sent');
  const submit = (to: string, cc: string) =>
    gateway.bus.ask(
      'gateway.message.submit',
      { keySha256: hash('sha256', secret, 'hex'), reversePath: box.address, recipients: [to] },
      {
        bytes: Buffer.from(
          [
            `From: <${box.address}>`,
            `To: <${box.address}>`,
            `Cc: <${cc}>`,
            `In-Reply-To: ${messageId}`,
            'Subject: x',
            '',
            'x',
            '',
          ].join('\r\n'),
        ),
      },
    );
  expect((await submit(box.address, STRANGER)).verdict).toBe('accepted');
  expect((await submit(STRANGER, STRANGER)).verdict).toBe('refused');
  for (const more of [{ to: [STRANGER] }, { to: ['ada@elsewhere.test'], bcc: [STRANGER] }]) {
    const reply = { from: box.address, text: 'x', ...more };
    expect(readOutcome(await gateway.call(secret, 'POST', `/emails/${id}/reply`, reply))).toBe('recipients');
  }
  const byHeaders = { from: box.address, to: STRANGER, subject: 'x', text: 'x', headers: { 'In-Reply-To': messageId } };
  expect(readOutcome(await gateway.call(secret, 'POST', '/emails', byHeaders))).toBe('recipients');
});

test('a key cannot send from a subdomain, whose mail would count as that of others', async () => {
  const mail = { from: `ada@mail.${domain}`, to: box.address, cc: STRANGER, subject: 'x', text: 'x' };
  const refused = await gateway.call(box.apiKey, 'POST', '/emails', mail);
  expect([refused.statusCode, refused.body.includes(`mail.${domain}`)]).toEqual([403, true]);
});

describe('a reply by a key without read', () => {
  const sendOnly = async (policy?: SendPolicy) =>
    (await insertKey(gateway.owner, box, { scopes: ['send'], ...(policy === undefined ? {} : { policy }) })).secret;

  test('names no recipient of the original when a send policy refuses it', async () => {
    const { id } = await conversation();
    const reply = { from: box.address, text: 'x' };
    const key = await sendOnly({ recipients: 'list', allow: ['example.com'] });
    const refused = await gateway.call(key, 'POST', `/emails/${id}/reply`, reply);
    expect([readOutcome(refused), refused.body.includes('ada@')]).toEqual(['recipients', false]);
  });

  test('names no link in the subject of the original when a send policy refuses it', async () => {
    const { threadId } = await conversation();
    const linked = await addTo(threadId, {
      addresses: fields({ from: 'ada@elsewhere.test' }),
      subject: 'See https://secret.example/plan',
    });
    const reply = { from: box.address, text: 'x' };
    const refused = await gateway.call(await sendOnly({ links: false }), 'POST', `/emails/${linked.id}/reply`, reply);
    expect([readOutcome(refused), refused.body.includes('secret.example')]).toEqual(['links', false]);
  });
});
