import { createHash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import type { TestSender } from '../../support/rows/queued-mail.ts';
import { createSender } from '../../support/rows/queued-mail.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import { readEmail, SECRET_KEY, untilTried } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;
let emailId: string;

beforeAll(async () => {
  stage = await createStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

interface Copy {
  text: string;
  to: string[];
  senderDomain?: string;
  isNullSender?: boolean;
}

/** Stores copies of one received email as the delivery actor hands them over; returns the deliveries' ids. */
async function queueCopies(copies: readonly Copy[], sender: TestSender = stage.sender): Promise<string[]> {
  const [mail] = await insertReceivedMail(stage.owner, sender);
  emailId = mail?.emailId ?? '';
  const now = new Date();
  const identifier = (kind: 'raw' | 'delivery' | 'recipient') => makeIdentifier(kind, now, randomBytes(10));
  const ids: string[] = [];
  for (const { text, to, senderDomain = sender.domain, isNullSender = false } of copies) {
    const bytes = Buffer.from(`From: <hello@${senderDomain}>\r\nSubject: Copy\r\n\r\n${text}\r\n`);
    const [rawId, deliveryId] = [identifier('raw'), identifier('delivery')];
    ids.push(deliveryId);
    await stage.owner.pool.query('insert into raw_message (id, packed, sha256, size_bytes) values ($1, $2, $3, $4)', [
      rawId,
      bytes,
      createHash('sha256').update(bytes).digest(),
      bytes.length,
    ]);
    await stage.owner.pool.query(
      `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, forward_raw_id, is_null_sender, attempts, attempts_allowed, created_at)
       values ($1, $2, $3, 'ep_test', 'email', $4, $5, 1, 1, now())`,
      [sender.workspaceId, deliveryId, emailId, rawId, isNullSender],
    );
    for (const address of to)
      await stage.owner.pool.query(
        `insert into recipient (workspace_id, id, email_id, delivery_id, sender_domain, address, domain, queued_at, next_attempt_at, reported_at, created_at)
         select $1, $2, $3, $4, $5, $6, $7, n, n, n, n from (select date_trunc('milliseconds', postroom_now()) as n) n`,
        [
          sender.workspaceId,
          identifier('recipient'),
          emailId,
          deliveryId,
          senderDomain,
          address,
          address.split('@')[1],
        ],
      );
  }
  return ids;
}

async function readDelivery(id: string | undefined) {
  const { rows } = await stage.owner.pool.query<{ status: string; response_data: unknown; completed: boolean }>(
    `select status, response_data, completed_at is not null as completed from delivery where id = $1`,
    [id],
  );
  return rows[0];
}

test('copies of one email are sent separately, each with its own bytes and return address', async () => {
  const sink = await stage.startSink();
  stage.publish('two.test', '127.0.0.1');
  const ids = await queueCopies([
    { text: 'first', to: ['a@two.test', 'b@two.test'] },
    { text: 'second', to: ['a@two.test'], isNullSender: true },
  ]);
  await stage.start({ port: sink.port });
  await untilTried(stage.owner, emailId);
  const seen = sink.messages.map(({ bytes, recipients, from }) => [
    bytes.toString().trimEnd().split('\r\n').at(-1),
    recipients.toSorted(),
    from === '' ? 'null' : from.replace(/^bounce.*@/, ''),
  ]);
  expect(seen).toHaveLength(2);
  expect(seen).toContainEqual(['first', ['a@two.test', 'b@two.test'], 'box.test']);
  expect(seen).toContainEqual(['second', ['a@two.test'], 'null']);
  for (const id of ids)
    expect(await readDelivery(id)).toEqual({
      status: 'success',
      response_data: { error: null, statusCode: 250 },
      completed: true,
    });
  // The email is one that came in: nothing of it changes, and nothing is told of it.
  const email = await readEmail(stage.owner, emailId);
  expect(email.status).toBe('delivered');
  expect(email.events.map(({ kind }) => kind)).toEqual(['delivery.succeeded', 'delivery.succeeded']);
});

test('a copy is signed by the domain of its From address, which its return address has, too', async () => {
  const sink = await stage.startSink();
  stage.publish('signed.test', '127.0.0.1');
  const other = await createSender(stage.owner, 'other-signer.test', SECRET_KEY);
  await stage.owner.pool.query('update domain set workspace_id = $1 where workspace_id = $2', [
    stage.sender.workspaceId,
    other.workspaceId,
  ]);
  await stage.owner.pool.query('update dkim_key set workspace_id = $1 where workspace_id = $2', [
    stage.sender.workspaceId,
    other.workspaceId,
  ]);
  await queueCopies([{ text: 'x', to: ['a@signed.test'], senderDomain: 'other-signer.test' }]);
  await stage.start({ port: sink.port });
  const [message] = await sink.received(1);
  expect(message?.bytes.toString()).toContain('d=other-signer.test');
  expect(message?.from).toMatch(/@other-signer\.test$/);
});

test('a copy whose domain is no longer verified is not sent', async () => {
  const sink = await stage.startSink();
  stage.publish('unverified.test', '127.0.0.1');
  const [id] = await queueCopies([{ text: 'x', to: ['a@unverified.test'], senderDomain: 'never.test' }]);
  await stage.start({ port: sink.port });
  await untilTried(stage.owner, emailId);
  expect(sink.connections).toHaveLength(0);
  expect(await readDelivery(id)).toMatchObject({
    status: 'failed',
    response_data: {
      error: 'Not sent: never.test is not a verified domain of the sender any more',
      statusCode: null,
    },
  });
});

test('a copy to a suppressed address is not sent', async () => {
  const sink = await stage.startSink();
  stage.publish('suppressed.test', '127.0.0.1');
  await stage.owner.pool.query(
    `insert into suppression (workspace_id, id, address, reason, created_at) values ($1, 'sup_test', 'a@suppressed.test', 'bounce', now())`,
    [stage.sender.workspaceId],
  );
  const [id] = await queueCopies([{ text: 'x', to: ['a@suppressed.test'] }]);
  await stage.start({ port: sink.port });
  await untilTried(stage.owner, emailId);
  expect(sink.connections).toHaveLength(0);
  expect(await readDelivery(id)).toMatchObject({
    status: 'failed',
    response_data: { error: 'Not sent: the address is on the suppression list' },
  });
});

test('a delivery is pending until its last recipient is settled, at most five days, without a DSN', async () => {
  const sink = await stage.startSink({
    script: { rcpt: (address) => (address.startsWith('slow') ? '450 4.2.0 Later' : undefined) },
  });
  stage.publish('slow.test', '127.0.0.1');
  const [id] = await queueCopies([{ text: 'x', to: ['fast@slow.test', 'slow@slow.test'] }]);
  await stage.start({ port: sink.port });
  await untilTried(stage.owner, emailId);
  expect(await readDelivery(id)).toEqual({ status: 'pending', response_data: null, completed: false });
  await stage.moveClock(5 * 24 * 3_600 + 60);
  await untilTried(stage.owner, emailId, 1);
  const deadline = Date.now() + 120_000;
  while ((await readDelivery(id))?.status === 'pending' && Date.now() < deadline)
    await new Promise((r) => setTimeout(r, 20));
  expect(await readDelivery(id)).toMatchObject({
    status: 'failed',
    response_data: { error: '1 of 2 recipients were not reached. slow@slow.test: 450 4.2.0 Later', statusCode: 450 },
  });
  expect(sink.messages).toHaveLength(1);
  const { rows } = await stage.owner.pool.query(
    `select from recipient where email_id = $1 and status = 'failed' and reported_at is null`,
    [emailId],
  );
  expect(rows).toEqual([]);
});
