import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createMessageSigner } from '../../../actors/sending/sign-message.ts';
import type { ByteStore } from '../../../db/byte-store.ts';
import { createSender, queueMail, type TestSender } from '../../support/rows/queued-mail.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { SECRET_KEY, untilRecipients } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;
let other: TestSender;

beforeAll(async () => {
  stage = await createStage();
  other = await createSender(stage.owner, 'other.test', null);
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const isDelivered = ([first]: { status: string }[]) => first?.status === 'delivered';
const LARGE_BYTES = 7_900_000;
const large = Buffer.from(`From: hello@box.test\r\n\r\n${`${'x'.repeat(78)}\r\n`.repeat(LARGE_BYTES / 80)}`);

/** A store of bytes that tells of which messages it was asked. */
function watchBytes(): { bytes: ByteStore; asked: string[] } {
  const { bytes } = testActorContext(stage.database);
  const asked: string[] = [];
  const get = (rawId: string) => {
    asked.push(rawId);
    return bytes.get(rawId);
  };
  return { bytes: { ...bytes, get }, asked };
}

test('one user’s mail to many servers that hang takes half of the transactions, and another user’s mail is sent', async () => {
  const hanging = await stage.startSink({ script: { banner: () => 'hang' } });
  const well = await stage.startSink({ host: '127.0.0.2', port: hanging.port });
  for (let domain = 0; domain < 75; domain++) {
    stage.publish(`tarpit${domain}.test`, '127.0.0.1');
    for (let n = 0; n < 4; n++) await queueMail(stage.owner, stage.sender, { to: [`user${n}@tarpit${domain}.test`] });
  }
  stage.publish('well.test', '127.0.0.2');
  await stage.start({ port: hanging.port });
  await hanging.until((sink) => sink.openConnections() === 50);
  for (let n = 0; n < 3; n++) {
    const emailId = await stage.send({ to: [`ann${n}@well.test`] }, other);
    await untilRecipients(stage.owner, emailId, isDelivered);
  }
  expect(hanging.openConnections(), 'they hang still').toBe(50);
  expect(well.messages).toHaveLength(3);
  expect(hanging.peakConnections()).toBe(50);
});

test('a user with a long backlog for many hanging servers has half of the jobs in memory', async () => {
  const hanging = await stage.startSink({ script: { banner: () => 'hang' } });
  const well = await stage.startSink({ host: '127.0.0.2', port: hanging.port });
  for (let domain = 0; domain < 75; domain++) stage.publish(`pit${domain}.test`, '127.0.0.1');
  stage.publish('well.test', '127.0.0.2');
  const emailId = await queueMail(stage.owner, stage.sender, { to: ['first@pit0.test'] });
  await stage.owner.pool.query(
    `insert into recipient (workspace_id, id, email_id, address, domain, queued_at, next_attempt_at, created_at)
     select workspace_id, 'rcp_' || md5('pit' || n), email_id, n || '@pit' || n % 75 || '.test', 'pit' || n % 75 || '.test', queued_at,
       next_attempt_at - interval '1 minute', created_at
     from recipient, generate_series(1, 7000) n where email_id = $1`,
    [emailId],
  );
  const swept = await queueMail(stage.owner, other, { to: ['swept@well.test'] });
  await stage.start({ port: hanging.port });
  await untilRecipients(stage.owner, swept, isDelivered);
  const woken = await stage.send({ to: ['woken@well.test'] }, other);
  await untilRecipients(stage.owner, woken, isDelivered);
  const { rows } = await stage.owner.pool.query<{ count: number }>(
    `select count(*)::integer as count from recipient where claimed_by is not null`,
  );
  expect(rows[0]?.count).toBeGreaterThanOrEqual(2_400);
  // A wake or a refill may claim while the sweep claims what it chose before, at most its window of 1,000 rows.
  expect(rows[0]?.count).toBeLessThanOrEqual(3_500);
  expect(well.messages).toHaveLength(2);
});

test('bytes of large messages for hanging servers are limited, and none are read before a session exists', async () => {
  const hanging = await stage.startSink({ script: { mail: () => 'hang' } });
  const silent = await stage.startSink({ host: '127.0.0.2', port: hanging.port, script: { banner: () => 'hang' } });
  const well = await stage.startSink({ host: '127.0.0.3', port: hanging.port });
  stage.publish('well.test', '127.0.0.3');
  stage.publish('silent.test', '127.0.0.2');
  await queueMail(stage.owner, other, { to: ['ann@silent.test'] });
  for (let n = 0; n < 12; n++) {
    stage.publish(`heavy${n}.test`, '127.0.0.1');
    await queueMail(stage.owner, stage.sender, { to: [`ann@heavy${n}.test`], bytes: large });
  }
  const { bytes, asked } = watchBytes();
  await stage.start({ port: hanging.port, bytes });
  // In 64 MB: half of what destinations may have that have taken nothing yet.
  await hanging.until((sink) => sink.transactions.length === 8);
  await silent.until((sink) => sink.openConnections() === 1);
  const emailId = await stage.send({ to: ['ann@well.test'], bytes: large }, other);
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect(well.messages).toHaveLength(1);
  expect(hanging.connections).toHaveLength(8);
  expect(asked).toHaveLength(9);
});

test('a message that goes to many domains is read once', async () => {
  const emailId = await queueMail(stage.owner, other, { to: ['ann@a.test'], bytes: large });
  const { rows } = await stage.owner.pool.query<{ raw_id: string }>(`select raw_id from email where id = $1`, [
    emailId,
  ]);
  const { bytes, asked } = watchBytes();
  const signer = createMessageSigner({ ...testActorContext(stage.database), bytes }, SECRET_KEY);
  const transaction = {
    workspaceId: other.workspaceId,
    emailId,
    rawId: rows[0]?.raw_id ?? null,
    bytes: large.length,
    domain: 'a.test',
    senderDomain: other.domain,
    isSenderVerified: true,
    isSystemSender: false,
    returnDomain: other.domain,
    isHosted: false,
    jobs: [],
  };
  for (let n = 0; n < 10; n++) expect((await signer.read(transaction))?.length).toBe(large.length);
  expect(asked).toHaveLength(1);
});
