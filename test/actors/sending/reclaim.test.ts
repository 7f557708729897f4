import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimListed, createRecipientLeases } from '../../../actors/sending/claim-recipients.ts';
import { createDestinationQueue } from '../../../actors/sending/destination-queue.ts';
import { createSendingRecorder, toOutcome } from '../../../actors/sending/record-outcomes.ts';
import type { SendingJob } from '../../../actors/sending/sending-job.ts';
import { createDispatcher } from '../../../actors/sending/take-due.ts';
import { createInHand } from '../../../actors/work/in-hand.ts';
import { queueMail } from '../../support/rows/queued-mail.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { listAttempts, moveClock } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;

beforeAll(async () => {
  stage = await createStage();
});
afterAll(() => stage.close());

test('a second claim of a running job closes its attempt', async () => {
  const context = testActorContext(stage.database);
  const plenty = { count: 10, bytes: 1_000_000 };
  const inHand = createInHand<SendingJob>({
    idOf: ({ recipientId }) => recipientId,
    laneOf: ({ workspaceId, domain }) => ({ workspaceId, key: domain }),
  });
  const kept: Promise<unknown>[] = [];
  const dispatcher = createDispatcher({
    context,
    queue: createDestinationQueue({
      limits: { active: plenty, unproven: plenty, first: 1, most: 1 },
      keyOf: ({ domain }) => domain,
      onReady: () => undefined,
    }),
    inHand,
    leases: createRecipientLeases(context),
    // The first one goes on all the while.
    attempter: {
      attempt: () => new Promise(() => undefined),
      interrupt: () => undefined,
      interruptLapsed: () => undefined,
      close: () => undefined,
    },
    recorder: createSendingRecorder(context, () => undefined),
    destinationOf: ({ domain }) => ({ key: domain, isOurs: false, isRelay: false }),
    keep: (work) => void kept.push(work),
    onRoom: () => undefined,
  });
  const emailId = await queueMail(stage.owner, stage.sender, { to: ['ann@again.test'] });
  const { rows } = await stage.owner.pool.query<{ id: string }>(`select id from recipient where email_id = $1`, [
    emailId,
  ]);
  const row = {
    workspace_id: stage.sender.workspaceId,
    id: rows[0]?.id ?? '',
    domain: 'again.test',
    next_attempt_at: new Date(),
  };
  dispatcher.add(await claimListed(context, [{ ...row, is_free: true }]));
  await moveClock(stage.owner, 31);
  dispatcher.add(await claimListed(context, [{ ...row, is_free: true }]));
  // The first one never ends; the last one closes the attempt.
  await kept.at(-1);
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([
    { number: 1, outcome: 'interrupted' },
    { number: 2, outcome: 'interrupted', text: 'Interrupted: an attempt before it still went on' },
  ]);
  expect(inHand.size()).toBe(1);
});

test('an outcome of a counted attempt changes nothing, although the claimant is the same', async () => {
  const context = testActorContext(stage.database);
  const emailId = await queueMail(stage.owner, stage.sender, { to: ['ann@twice.test'] });
  const recipient = async () => {
    const { rows } = await stage.owner.pool.query(
      `select id, status, attempts, claimed_by, last_code from recipient where email_id = $1`,
      [emailId],
    );
    return rows[0];
  };
  const { id } = await recipient();
  const claim = () =>
    claimListed(context, [
      { workspace_id: stage.sender.workspaceId, id, domain: 'twice.test', next_attempt_at: new Date(), is_free: true },
    ]);
  const recorder = createSendingRecorder(context, () => undefined);
  const readOutcome = (job: SendingJob | undefined) => {
    if (job === undefined) throw new Error('nothing was claimed');
    const reply = { isReply: true, code: 451, status: '4.3.0', text: 'later' };
    const where = { host: null, remoteAddress: null, isTls: null, returnId: null };
    return toOutcome({ job, outcome: 'deferred', ...reply, ...where }, 0.5);
  };
  const first = readOutcome((await claim())[0]?.jobs[0]);
  await recorder.record(first);
  expect(await recipient()).toMatchObject({ status: 'pending', attempts: 1, claimed_by: null, last_code: 451 });
  await moveClock(stage.owner, 86_400);
  await claim();
  await recorder.record({ ...first, row: { ...first.row, status: 'bounced', outcome: 'bounced', code: 550 } });
  expect(await recipient()).toMatchObject({ status: 'pending', attempts: 1, claimed_by: context.name, last_code: 451 });
});
