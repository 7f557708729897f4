import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAttempts, untilRecipients } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;

beforeAll(async () => {
  stage = await createStage();
});
afterAll(async () => {
  await stage.clear();
  await stage.close();
});

test('a job is not claimed again by the process that holds it, although the lease expired', async () => {
  const { promise, resolve: respond } = Promise.withResolvers<void>();
  const sink = await stage.startSink({ script: { message: () => promise.then(() => undefined) } });
  stage.publish('held.test', '127.0.0.1');
  stage.publish('other.test', '127.0.0.1');
  const actor = await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@held.test'] });
  await sink.until(({ transactions }) => transactions[0]?.recipients.length === 1);
  // As when PostgreSQL was away for longer than a lease.
  await stage.moveClock(31);
  actor.wake(stage.sender.workspaceId, emailId);
  const behind = await stage.send({ to: ['ben@other.test'] });
  await sink.until(({ transactions }) => transactions[1]?.recipients.length === 1);
  respond();
  for (const each of [emailId, behind])
    await untilRecipients(stage.owner, each, ([first]) => first?.status === 'delivered');
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([{ number: 1, outcome: 'delivered' }]);
  expect(sink.messages).toHaveLength(2);
});
