import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import { receivedMessageId } from '../../../core/mime/message-id.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { lockThreads } from '../../../db/queries/threads/thread-claim.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { MESSAGE_COLUMNS, type MessageColumns, readStoredMessage } from '../../support/rows/stored-message.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

const PARALLEL_REPLIES = 20;

let gateway: TestGateway;
let other: Awaited<ReturnType<TestGateway['beside']>>;
let box: TestMailbox;

// No threading actor runs: what is in a thread got there in its own transaction, or by an explicit assignThreads.
beforeAll(async () => {
  gateway = await openTestGateway();
  other = await gateway.beside();
  box = await gateway.mailbox({ domain: 'mine.test' });
});
afterAll(async () => {
  await other.app.close();
  await gateway.close();
});

const reply = async (id: string, call = gateway.call, more: object = {}) => {
  const response = await call(box.apiKey, 'POST', `/emails/${id}/reply`, { from: box.address, text: 'Yes', ...more });
  return { status: response.statusCode, body: response.json() };
};

const list = (address: string) => ({ text: address, addresses: [{ name: null, address }] });

async function receive(inReplyTo: string[] = []): Promise<string> {
  const addresses = { from: list('ada@away.test'), to: list(box.address), cc: null, bcc: null, replyTo: null };
  const mail = { workspaceId: box.workspaceId, ownAddress: box.address, addresses, inReplyTo };
  const [id = ''] = await insertMail(gateway.actor, [mail]);
  return id;
}

const assign = (...ids: string[]) => assignThreads(testActorContext(gateway.actor), box.workspaceId, ids);

interface Place {
  id: string;
  type: string;
  thread_id: string | null;
  thread_position: number | null;
  message_id: string;
}

async function listPlaces(ids: readonly string[]): Promise<Place[]> {
  const { rows } = await gateway.actor.pool.query<Place>(
    'select id, type, thread_id, thread_position, message_id from email where id = any ($1) order by thread_position',
    [ids],
  );
  return rows;
}

async function received(): Promise<{ id: string; threadId: string }> {
  const id = await receive();
  await assign(id);
  const [place] = await listPlaces([id]);
  return { id, threadId: place?.thread_id ?? '' };
}

async function readThread(threadId: string) {
  const { rows } = await gateway.actor.pool.query(
    'select message_count, received_count, latest_email_id from thread where workspace_id = $1 and id = $2',
    [box.workspaceId, threadId],
  );
  return rows[0];
}

async function threadedEvents(ids: readonly string[]): Promise<number> {
  const { rows } = await gateway.actor.pool.query(
    `select count(*)::integer as n from event where kind = 'email.threaded' and email_id = any ($1)`,
    [ids],
  );
  return rows[0].n;
}

test('a second reply by thread id refers to the first one', async () => {
  const { id, threadId } = await received();
  let latest = id;
  for (let position = 1; position <= 20; position++) {
    const { body } = await reply(threadId, position % 2 === 0 ? gateway.call : other.call, { to: 'ada@away.test' });
    expect(body).toMatchObject({ replied_to_email_id: latest, replied_to_thread_id: threadId, is_thread_reply: true });
    const [place] = await listPlaces([body.id]);
    expect(place).toMatchObject({ thread_id: threadId, thread_position: position });
    latest = body.id;
  }
  expect(await readThread(threadId)).toEqual({ message_count: 21, received_count: 1, latest_email_id: latest });
});

test('parallel replies through two gateways, among arriving mail, get positions without gap or repeat', async () => {
  const { id, threadId } = await received();
  const messageId = (await listPlaces([id]))[0]?.message_id ?? '';
  const incoming = await Promise.all(Array.from({ length: PARALLEL_REPLIES }, () => receive([messageId])));
  const [responses] = await Promise.all([
    Promise.all(
      Array.from({ length: PARALLEL_REPLIES }, (_, n) =>
        reply(threadId, n % 2 === 0 ? gateway.call : other.call, { to: 'ada@away.test' }),
      ),
    ),
    ...incoming.map((each) => assign(each)),
  ]);
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  const ids = [id, ...incoming, ...responses.map(({ body }) => body.id)];
  // What an actor does that is woken late, or that sweeps.
  await assign(...ids);
  const places = await listPlaces(ids);
  expect(places.map((place) => place.thread_position)).toEqual(ids.map((_, position) => position));
  expect(new Set(places.map((place) => place.thread_id))).toEqual(new Set([threadId]));
  expect(await readThread(threadId)).toMatchObject({ message_count: ids.length, received_count: 1 + incoming.length });
  expect(await threadedEvents(ids)).toBe(ids.length);
});

test('the threading actor has nothing to do for a reply', async () => {
  const { id } = await received();
  const { body } = await reply(id);
  expect(await assign(body.id)).toBe(0);
  expect(await threadedEvents([body.id])).toBe(1);
});

test('an email that refers to a known Message-ID joins its thread at once, any other starts a thread', async () => {
  const { id, threadId } = await received();
  const messageId = (await listPlaces([id]))[0]?.message_id;
  const send = (headers: object) =>
    gateway.call(box.apiKey, 'POST', '/emails', {
      from: box.address,
      to: 'ada@away.test',
      subject: 'x',
      text: 'x',
      headers,
    });
  const [referring, plain] = await Promise.all([send({ 'In-Reply-To': messageId }), send({})]);
  const ids = [referring.json().id, plain.json().id];
  expect(await listPlaces(ids)).toMatchObject([
    { id: ids[1], thread_id: expect.not.stringContaining(threadId), thread_position: 0 },
    { id: ids[0], thread_id: threadId, thread_position: 1 },
  ]);
  expect(await assign(...ids)).toBe(0);
});

test('a reply to mail that has no thread yet shares its thread once it has one', async () => {
  const id = await receive();
  const { body } = await reply(id);
  const [before] = await listPlaces([body.id]);
  expect(before?.thread_id).toMatch(/^th_/);
  await assign(id);
  expect(await listPlaces([id, body.id])).toMatchObject([
    { id, thread_id: before?.thread_id, thread_position: 0 },
    { id: body.id, thread_id: before?.thread_id, thread_position: 1 },
  ]);
});

test('a scheduled reply is in no thread before it is sent', async () => {
  const { id } = await received();
  const { body, status } = await reply(id, gateway.call, { scheduled_at: 'in 2 hours' });
  expect(status).toBe(201);
  expect(await listPlaces([body.id])).toMatchObject([{ type: 'scheduled', thread_id: null }]);
});

test('a reply with a used key joins no thread again', async () => {
  const { id, threadId } = await received();
  const request = () =>
    gateway.app.inject({
      method: 'POST',
      url: `/api/e2/emails/${id}/reply`,
      headers: { authorization: `Bearer ${box.apiKey}`, 'idempotency-key': 'once' },
      payload: { from: box.address, text: 'Once' },
    });
  const [first, second] = [await request(), await request()];
  expect(second.json()).toEqual(first.json());
  expect(await readThread(threadId)).toMatchObject({ message_count: 2 });
});

test('a reply is sent although another transaction holds the threads of its user for long, and joins later', async () => {
  const { id, threadId } = await received();
  const response = await inTransaction(gateway.actor, async (client) => {
    await lockThreads(client, box.workspaceId);
    return reply(id);
  });
  expect(response.status).toBe(200);
  expect(await listPlaces([response.body.id])).toMatchObject([{ thread_id: null }]);
  expect(await assign(response.body.id)).toBe(1);
  expect(await listPlaces([response.body.id])).toMatchObject([{ thread_id: threadId, thread_position: 1 }]);
});

describe('a reply that names a claim', () => {
  const claim = async (threadId: string, body: object = {}) => {
    const path = `/mail/threads/${threadId}/claim`;
    const response = await gateway.call(box.apiKey, 'POST', path, { holder: 'agent-7', ttl: 60, ...body });
    expect(response.statusCode, response.body).toBe(200);
    return response.json();
  };
  const release = async (threadId: string, token: string) => {
    const response = await gateway.call(box.apiKey, 'POST', `/mail/threads/${threadId}/claim/release`, { token });
    expect(response.json()).toEqual({ thread_id: threadId, released: true });
  };
  const follow = async (id: string, token: string, references?: string[]) => {
    const [place] = await listPlaces([id]);
    const headers = { References: (references ?? [place?.message_id ?? '']).join(' ') };
    const email = { from: box.address, to: 'ada@away.test', subject: 'x', text: 'x', headers, claim_token: token };
    const response = await gateway.call(box.apiKey, 'POST', '/emails', email);
    return { status: response.statusCode, body: response.json() };
  };
  const responses = [
    [
      'POST /emails/{id}/reply',
      (id: string, _threadId: string, token: string) => reply(id, gateway.call, { claim_token: token }),
    ],
    [
      'a reply by thread id',
      (_id: string, threadId: string, token: string) => reply(threadId, gateway.call, { claim_token: token }),
    ],
    ['POST /emails in a thread', (id: string, _threadId: string, token: string) => follow(id, token)],
    ['GraphQL', (id: string, _threadId: string, token: string) => replyByGraph(id, token)],
  ] as const;

  async function replyByGraph(id: string, claimToken: string) {
    const response = await gateway.graphql(
      box.apiKey,
      `mutation Reply($input: ReplyToEmailInput!) { replyToEmail(input: $input) {
         __typename ... on ReplyToEmailPayload { email { id } } ... on Conflict { code isRetryable } } }`,
      { input: { id, from: box.address, text: 'Yes', claimToken } },
    );
    const result = response.json().data.replyToEmail;
    return { status: result.__typename === 'Conflict' ? 409 : 200, body: { code: result.code, id: result.email?.id } };
  }

  test.each(responses)(
    '%s: is sent while the claim holds, and is 409 and sends nothing once it is lost',
    async (_name, respond) => {
      const { id, threadId } = await received();
      const elsewhere = await received();
      const { token } = await claim(threadId);
      const first = await respond(id, threadId, token);
      expect(first.status, JSON.stringify(first.body)).toBe(200);
      expect(await listPlaces([first.body.id])).toMatchObject([{ thread_id: threadId }]);

      const others = await claim(elsewhere.threadId);
      await release(threadId, token);
      const retaken = await claim(threadId, { holder: 'agent-8', ttl: 10 });
      for (const lost of [token, others.token, 'clm_0']) {
        const refused = await respond(id, threadId, lost);
        expect([refused.status, refused.body.code]).toEqual([409, 'CLAIM_LOST']);
      }
      await gateway.owner.pool.query(`update clock set shift = shift + interval '11 seconds'`);
      expect(await respond(id, threadId, retaken.token), 'expired').toMatchObject({ status: 409 });
      expect(await readThread(threadId)).toMatchObject({ message_count: 2 });
    },
  );

  test('follows its thread when threads are merged while others hold them', async () => {
    const [one, two] = [await received(), await received()];
    const [kept, ended] = [await claim(one.threadId), await claim(two.threadId)];
    const merge = `mutation { mergeThreads(input: { threadIds: ["${one.threadId}", "${two.threadId}"] }) { __typename } }`;
    await gateway.graphql(box.apiKey, merge);
    const statuses = async (token: string) =>
      Promise.all([one.id, two.id].map(async (id) => (await reply(id, gateway.call, { claim_token: token })).status));
    const found = await Promise.all([kept.token, ended.token].map(statuses));
    expect(
      found.toSorted(([a = 0], [b = 0]) => a - b),
      'one claim holds for both',
    ).toEqual([
      [200, 200],
      [409, 409],
    ]);
  });

  test('is 400 when the email replies to no thread, and 409 when it replies to an unknown one', async () => {
    const { threadId } = await received();
    const { token } = await claim(threadId);
    const email = { from: box.address, to: 'ada@away.test', subject: 'x', text: 'x', claim_token: token };
    const plain = await gateway.call(box.apiKey, 'POST', '/emails', email);
    expect([plain.statusCode, plain.json().details[0].field]).toEqual([400, 'claim_token']);
    expect((await follow('', token, ['<unknown@away.test>'])).status).toBe(409);
  });

  test('is refused alone in a permissive batch when its claim is lost', async () => {
    const { id, threadId } = await received();
    const { token } = await claim(threadId);
    const [place] = await listPlaces([id]);
    const emails = [token, 'clm_0'].map((claimToken) => ({
      from: box.address,
      to: 'ada@away.test',
      subject: 'x',
      text: 'x',
      headers: { References: place?.message_id },
      claim_token: claimToken,
    }));
    const response = await gateway.call(box.apiKey, 'POST', '/emails/batch', emails, {
      'x-batch-validation': 'permissive',
    });
    expect(response.statusCode, response.body).toBe(202);
    expect(response.json()).toMatchObject({ data: [{}], errors: [{ index: 1 }] });
  });

  test('gets the first response when it is repeated with its Idempotency-Key after the claim was lost', async () => {
    const { id, threadId } = await received();
    const { token } = await claim(threadId);
    const request = async () => {
      const body = { from: box.address, text: 'Yes', claim_token: token };
      const path = `/emails/${id}/reply`;
      return (await gateway.call(box.apiKey, 'POST', path, body, { 'idempotency-key': `key-${token}` })).json();
    };
    const first = await request();
    await release(threadId, token);
    expect(await request()).toEqual(first);
    expect(await readThread(threadId)).toMatchObject({ message_count: 2 });
  });

  test('is sent under its claim while another transaction holds the threads of its user for long', async () => {
    const { id, threadId } = await received();
    const { token } = await claim(threadId);
    const statuses = await inTransaction(gateway.actor, async (client) => {
      await lockThreads(client, box.workspaceId);
      const held = await reply(id, gateway.call, { claim_token: token });
      const lost = await reply(id, gateway.call, { claim_token: 'clm_0' });
      return [held.status, lost.status];
    });
    expect(statuses).toEqual([200, 409]);
  });

  test('is sent or refused during a release, and the release waits for a running reply', async () => {
    for (let round = 0; round < 5; round++) {
      const { id, threadId } = await received();
      const { token } = await claim(threadId);
      const [sent] = await Promise.all([reply(id, other.call, { claim_token: token }), release(threadId, token)]);
      expect([200, 409]).toContain(sent.status);
      expect(await readThread(threadId)).toMatchObject({ message_count: sent.status === 200 ? 2 : 1 });
    }
  });
});

test('a reply to mail without a Message-ID contains none of our ids, and joins its thread', async () => {
  const addresses = { from: list('ada@away.test'), to: list(box.address), cc: null, bcc: null, replyTo: null };
  const id = `em_${'7'.repeat(32)}`;
  const messageId = receivedMessageId(null, id, 'mx.test');
  await insertMail(gateway.actor, [
    { workspaceId: box.workspaceId, id, messageId, ownAddress: box.address, subject: '', addresses },
  ]);
  await assign(id);
  const { status, body } = await reply(id);
  expect(status, JSON.stringify(body)).toBe(200);
  const [first, second] = await listPlaces([id, body.id]);
  expect(second?.thread_id).toBe(first?.thread_id);
  const { rows } = await gateway.actor.pool.query<MessageColumns>(
    `select ${MESSAGE_COLUMNS} from email e join raw_message m on m.id = e.raw_id where e.id = $1`,
    [body.id],
  );
  const header = rows.map(readStoredMessage).join('').split('\r\n\r\n')[0] ?? '';
  expect(header).toMatch(/^Message-ID: /im);
  expect(header).not.toMatch(/^(?:In-Reply-To|References):/im);
});
