import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimOfEmails } from '../../../actors/sending/claim-recipients.ts';
import { createSendingRecorder, toOutcome } from '../../../actors/sending/record-outcomes.ts';
import type { AttemptResult, SendingJob } from '../../../actors/sending/sending-job.ts';
import { SYSTEM_WORKSPACE_ID } from '../../../core/accounts/system-account.ts';
import { keepSystemDomain } from '../../../db/queries/domains/domain-owner.ts';
import { wrongTotals } from '../../support/rows/outgoing-rows.ts';
import { createSender, queueMail, type TestSender } from '../../support/rows/queued-mail.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { readEmail, SECRET_KEY } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;

beforeAll(async () => {
  stage = await createStage();
});
afterAll(() => stage.close());

const NOWHERE = { host: null, remoteAddress: null, isTls: null, returnId: null };
const TAKEN = { ...NOWHERE, outcome: 'delivered', isReply: true, code: 250, status: '2.0.0', text: 'taken' } as const;
const LATER = { ...NOWHERE, outcome: 'deferred', isReply: true, code: 451, status: '4.3.0', text: 'later' } as const;
const FULL = { ...NOWHERE, outcome: 'bounced', isReply: true, code: 552, status: '5.2.2', text: 'full' } as const;
const GONE = {
  ...NOWHERE,
  outcome: 'bounced',
  isReply: true,
  code: 550,
  status: '5.1.1',
  text: 'no such user',
} as const;

test.each([
  ['without suppressions', FULL, []],
  ['with a suppression', GONE, ['b@many.test']],
] as const)('a group of outcomes of several users is recorded together, %s', async (_, refused, suppressed) => {
  const context = testActorContext(stage.database);
  const suffix = suppressed.length === 0 ? 'plain' : 'any';
  const one = await createSender(stage.owner, `one-${suffix}.test`, SECRET_KEY);
  const two = await createSender(stage.owner, `two-${suffix}.test`, SECRET_KEY);
  const mixed = await queueMail(stage.owner, one, { to: ['a@many.test', 'b@many.test'] });
  const waiting = await queueMail(stage.owner, one, { to: ['c@many.test', 'd@many.test'] });
  const other = await queueMail(stage.owner, two, { to: ['e@many.test'] });
  const jobs = await claim(context, [one, mixed], [one, waiting], [two, other]);
  const results = { a: TAKEN, b: refused, c: TAKEN, d: LATER, e: TAKEN };
  const recorder = createSendingRecorder(context, () => undefined);
  await Promise.all(
    Object.entries(results).map(([name, result]) => recorder.record(toOutcome({ job: jobs(name), ...result }, 0.5))),
  );
  expect(await readEmail(stage.owner, mixed)).toMatchObject({ status: 'bounced' });
  expect(await readEmail(stage.owner, waiting)).toMatchObject({ status: 'pending' });
  expect(await readEmail(stage.owner, other)).toMatchObject({ status: 'delivered' });
  expect(await listEvents(one)).toEqual([
    ['email.delivered', mixed, 'a@many.test', 250, 'taken'],
    ['email.bounced', mixed, 'b@many.test', refused.code, refused.text],
    ['email.delivered', waiting, 'c@many.test', 250, 'taken'],
    ['email.delayed', waiting, 'd@many.test', 451, 'later'],
  ]);
  expect(await listEvents(two)).toEqual([['email.delivered', other, 'e@many.test', 250, 'taken']]);
  for (const { workspaceId } of [one, two]) expect(await wrongTotals(stage.owner, workspaceId)).toEqual([]);
  const { rows } = await stage.owner.pool.query('select address from suppression where workspace_id = $1', [
    one.workspaceId,
  ]);
  expect(rows.map(({ address }) => address)).toEqual(suppressed);
});

test('an address that refused mail of the service is not suppressed', async () => {
  const context = testActorContext(stage.database);
  const domainId = await keepSystemDomain(stage.owner, { id: `dom_${'a'.repeat(32)}`, name: 'service.test' });
  const made = await createSender(stage.owner, 'beside.test', SECRET_KEY);
  const service = { ...made, workspaceId: SYSTEM_WORKSPACE_ID, domainId, domain: 'service.test' };
  const invitation = await queueMail(stage.owner, service, { to: ['a@many.test'] });
  const jobs = await claim(context, [service, invitation]);
  const recorder = createSendingRecorder(context, () => undefined);
  await recorder.record(toOutcome({ job: jobs('a'), ...GONE }, 0.5));
  expect(await readEmail(stage.owner, invitation)).toMatchObject({ status: 'bounced' });
  const { rows } = await stage.owner.pool.query('select address from suppression where workspace_id = $1', [
    SYSTEM_WORKSPACE_ID,
  ]);
  expect(rows).toEqual([]);
});

test('an outcome with a lost claim is left out of its group: no event, no change', async () => {
  const context = testActorContext(stage.database);
  const sender = await createSender(stage.owner, 'lost.test', SECRET_KEY);
  const lost = await queueMail(stage.owner, sender, { to: ['a@many.test'] });
  const held = await queueMail(stage.owner, sender, { to: ['b@many.test'] });
  const jobs = await claim(context, [sender, lost], [sender, held]);
  await stage.owner.pool.query(`update recipient set claimed_by = 'another' where email_id = $1`, [lost]);
  const recorder = createSendingRecorder(context, () => undefined);
  const record = (name: string, result: Omit<AttemptResult, 'job'>) =>
    recorder.record(toOutcome({ job: jobs(name), ...result }, 0.5));
  await Promise.all([record('a', LATER), record('b', TAKEN)]);
  expect(await listEvents(sender)).toEqual([['email.delivered', held, 'b@many.test', 250, 'taken']]);
  expect(await readEmail(stage.owner, lost)).toMatchObject({ status: 'pending' });
});

/** Claims all recipients of the emails; the result finds a job by the local part of its address. */
async function claim(
  context: ReturnType<typeof testActorContext>,
  ...emails: [sender: TestSender, emailId: string][]
): Promise<(name: string) => SendingJob> {
  const woken = emails.map(([{ workspaceId }, emailId]) => ({ workspaceId, emailId }));
  const jobs = (await claimOfEmails(context, woken, [])).flatMap((transaction) => transaction.jobs);
  return (name) => {
    const found = jobs.find(({ address }) => address.startsWith(`${name}@`));
    if (found === undefined) throw new Error(`${name} was not claimed`);
    return found;
  };
}

/** The events about sending of the user, in the order of the feed. */
async function listEvents({ workspaceId }: TestSender): Promise<unknown[]> {
  const { rows } = await stage.owner.pool.query<{ kind: string; email_id: string; data: Record<string, unknown> }>(
    'select kind, email_id, data from event where workspace_id = $1 order by seq',
    [workspaceId],
  );
  return rows.map(({ kind, email_id, data }) => [kind, email_id, data['recipient'], data['code'], data['text']]);
}
