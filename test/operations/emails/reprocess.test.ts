import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PARSER_VERSION } from '../../../core/mime/parse-message.ts';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import { storeBodiesApart } from '../../../db/queries/emails/bodies-in-message.ts';
import { type ReprocessedEmail, type ReprocessStep, reprocessEmails } from '../../../operations/emails/reprocess.ts';
import { regroup } from '../../../operations/threads/regroup-messages.ts';
import { splitThread } from '../../../operations/threads/thread-moves.ts';
import { changeThreads } from '../../../operations/threads/thread-transaction.ts';
import { untilDeliveries } from '../../actors/delivery/delivering.ts';
import { addRule } from '../../actors/delivery/guarding.ts';
import { isQuick } from '../../support/chaos-figures.ts';
import { hasCorpora, readEmlMessages, readThreadSet } from '../../support/mail/corpora.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { type MailStage, openMailStage } from '../../support/stages/mail-stage.ts';

let stage: MailStage;
let receiver: WebhookReceiver;
const poisoned = new URL('../../support/mail/poisoned-parse-worker.ts', import.meta.url);

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  stage = await openMailStage({ parserProgram: poisoned });
});
afterAll(async () => {
  await stage?.close();
  await receiver?.stop();
});

const ALL: ReprocessStep[] = ['parse', 'thread', 'route'];
const query = async (sql: string, values: unknown[] = []) => (await stage.database.pool.query(sql, values)).rows;
const crlf = (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'));

async function reprocess(
  { workspaceId }: Pick<TestMailbox, 'workspaceId'>,
  emailIds: readonly string[],
  mode: 'run' | 'dry',
  steps: ReprocessStep[] = ALL,
): Promise<ReprocessedEmail[]> {
  return reprocessEmails(stage.makeContext(workspaceId), { emailIds, steps, mode });
}

/** What both modes tell alike. */
const told = ({ emailId, changes, endpointId, error }: ReprocessedEmail) => ({ emailId, changes, endpointId, error });
const listFields = ({ changes }: ReprocessedEmail) => changes.map(({ step, field }) => `${step}.${field}`);

/** Puts an email into a thread of its own, as another version of the service might have. */
async function tearOff({ workspaceId }: TestMailbox, emailId: string): Promise<void> {
  const targetId = makeIdentifier('thread', new Date(), randomBytes(10));
  await changeThreads(stage.makeContext(workspaceId), async (client) => ({
    result: null,
    events: await regroup(client, workspaceId, { emailIds: [emailId], targetId, target: 'made', reason: 'new' }),
  }));
}

/** Where rows of threads and their emails do not agree. */
const faults = (workspaceId: string) =>
  query(
    `select t.id from thread t
     cross join lateral (
       select count(*) as messages, count(*) filter (where type = 'received') as received,
         count(*) filter (where type = 'received' and not is_read) as unread, min(thread_position) as low, max(thread_position) as high,
         count(distinct thread_position) as places, max(thread_at) as latest
       from email e where e.workspace_id = t.workspace_id and e.thread_id = t.id) e
     where t.workspace_id = $1 and (t.message_count <> e.messages or t.received_count <> e.received or t.unread_count <> e.unread
       or e.low <> 0 or e.high <> e.messages - 1 or e.places <> e.messages or t.last_message_at <> e.latest)
     union all select e.id from email e where e.workspace_id = $1 and e.thread_id not in (select id from thread where workspace_id = $1)`,
    [workspaceId],
  );

const snapshot = (workspaceId: string) =>
  query(
    `select e.*, c.*, s.text as search, r.outcome, r.rule_id, r.endpoint_id, r.decided_at
     from email e join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
     join email_search s on s.workspace_id = e.workspace_id and s.email_id = e.id
     join route r on r.workspace_id = e.workspace_id and r.email_id = e.id where e.workspace_id = $1 order by e.id`,
    [workspaceId],
  );

describe.skipIf(!hasCorpora)('over real mail', () => {
  test('a dry run predicts the real run, and another run finds no difference', async () => {
    const box = await stage.mailbox({ endpointUrl: receiver.url });
    const messages = [
      ...(await readThreadSet('sa-easy-ham-2')).messages.slice(0, isQuick ? 40 : 80),
      ...(await readEmlMessages()).filter((_, n) => n % 16 === 0).slice(0, isQuick ? 15 : 30),
    ];
    const ids: string[] = [];
    for (let at = 0; at < messages.length; at += 10) {
      const part = messages
        .slice(at, at + 10)
        .map(({ bytes }) => stage.deliver(crlf(bytes.toString('latin1').replaceAll('\r\n', '\n')), box.address));
      ids.push(...(await Promise.all(part)));
    }
    await stage.settled();
    // Of a machine that is busy some messages are given up, which is what this mends.
    const troubled = await query(`select email_id from email_content where parse_error is not null`);
    if (troubled.length > 0)
      await reprocess(
        box,
        troubled.map(({ email_id: id }) => String(id)),
        'run',
        ['parse', 'thread'],
      );
    const fresh = await reprocess(box, ids.slice(0, 60), 'dry', ['parse', 'thread']);
    expect(fresh.flatMap(listFields)).toEqual([]);
    // Parsing again stores bodies in their columns, also those that lay in the message.
    await storeBodiesApart(stage.database.pool, box.workspaceId, ids);
    const asParsed = await snapshot(box.workspaceId);

    // As an older service might have left them.
    const nth = (n: number, of: number) => ids.filter((_, at) => at % of === n);
    await query(
      `update email_content set parser_version = 0, cleaned_text = 'former ' || coalesce(text_body, '') where email_id = any ($1)`,
      [nth(0, 3)],
    );
    await query(`update email set subject = 'former', base_subject = 'former', from_name = null where id = any ($1)`, [
      nth(1, 5),
    ]);
    await query(`update email_content set in_reply_to = '{}', reference_ids = '{}' where email_id = any ($1)`, [
      nth(2, 5),
    ]);
    await query(`update email set is_read = true where id = any ($1)`, [nth(0, 7)]);
    await query(
      `update thread t set unread_count = (select count(*) from email e where e.workspace_id = t.workspace_id and e.thread_id = t.id and not e.is_read)`,
    );
    for (const emailId of nth(3, 11)) await tearOff(box, emailId);
    await addRule(stage.database, box, { action: 'block', subject: 'perl' });
    await addRule(stage.database, box, { action: 'block', hasWords: 'linux' });
    expect(await faults(box.workspaceId)).toEqual([]);

    let changed = 0;
    const counts = new Map<string, number>();
    for (let at = 0; at < ids.length; at += 60) {
      const part = ids.slice(at, at + 60);
      const before = await snapshot(box.workspaceId);
      const dry = await reprocess(box, part, 'dry');
      expect(await snapshot(box.workspaceId)).toEqual(before);
      const run = await reprocess(box, part, 'run');
      expect(run.map(told)).toEqual(dry.map(told));
      for (const field of run.flatMap(listFields)) counts.set(field, (counts.get(field) ?? 0) + 1);
      changed += run.filter(({ changes }) => changes.length > 0).length;
      expect(run.filter(({ error }) => error !== null)).toEqual([]);
      expect(run.filter(({ endpointId, deliveryId }) => (endpointId === null) !== (deliveryId === null))).toEqual([]);
      const again = await reprocess(box, part, 'dry');
      expect(again.flatMap(listFields)).toEqual([]);
    }
    process.stdout.write(`${changed} of ${ids.length} changed: ${JSON.stringify([...counts])}\n`);
    expect(changed).toBeGreaterThan(ids.length / 2);
    expect([...counts.keys()]).toEqual(expect.arrayContaining(['parse.subject', 'thread.threadId', 'route.outcome']));
    expect(await faults(box.workspaceId)).toEqual([]);

    // All that the parser says is as it was, and what the user set is kept; mail that a rule holds now is archived.
    const ofWorkspace = new Set(
      'is_read read_at is_archived updated_at thread_id thread_position thread_reason outcome rule_id endpoint_id decided_at'.split(
        ' ',
      ),
    );
    const parsed = (rows: Record<string, unknown>[]) =>
      rows.map((row) => Object.fromEntries(Object.entries(row).filter(([column]) => !ofWorkspace.has(column))));
    const repaired = await snapshot(box.workspaceId);
    expect(parsed(repaired)).toEqual(parsed(asParsed));
    expect(repaired.filter(({ is_read: isRead }) => isRead).length).toBe(nth(0, 7).length);
    // Those that were together are together again.
    const together = (rows: Record<string, unknown>[]) =>
      [...Map.groupBy(rows, (row) => row['thread_id']).values()]
        .map((of) => of.map(({ id }) => id).join(' '))
        .toSorted((a, b) => (a < b ? -1 : 1));
    expect(together(repaired)).toEqual(together(asParsed));
  }, 600_000);
});

async function deliver(box: TestMailbox, ...raws: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const raw of raws) ids.push(await stage.deliver(crlf(raw), box.address));
  await stage.settled();
  return ids;
}

const readThread = async (emailId: string | undefined) =>
  (await query('select thread_id, thread_reason from email where id = $1', [emailId]))[0] as Record<string, unknown>;

test('reports differences with their step, bodies from shortly before the first difference', async () => {
  const box = await stage.mailbox();
  const [id = ''] = await deliver(box, `Subject: one\nFrom: a@b.test\n\n${'x'.repeat(3_000)}y\n`);
  const noted = () => query('select state, changes from unindexed_email where email_id = $1', [id]);
  await query('delete from unindexed_email where email_id = $1', [id]);
  await query(`update email_content set text_body = $2, body_places = null, parser_version = 0 where email_id = $1`, [
    id,
    'x'.repeat(3_000),
  ]);
  await query(`update email set subject = 'two' where id = $1`, [id]);
  const [dry] = await reprocess(box, [id], 'dry', ['parse']);
  expect(dry?.changes).toEqual([
    { step: 'parse', field: 'subject', before: 'two', after: 'one', differsAt: null },
    { step: 'parse', field: 'textBody', before: 'x'.repeat(40), after: `${'x'.repeat(40)}y\n`, differsAt: 3_000 },
    { step: 'parse', field: 'parserVersion', before: '0', after: String(PARSER_VERSION), differsAt: null },
  ]);
  await reprocess(box, [id], 'run', ['parse']);
  const [event] = await query(
    `select kind, email_id, data from event where workspace_id = $1 order by seq desc limit 1`,
    [box.workspaceId],
  );
  expect(event).toEqual({
    kind: 'email.reprocessed',
    email_id: id,
    data: { step: 'parse', changed: ['subject', 'textBody', 'parserVersion'] },
  });
  expect(await noted()).toEqual([{ state: 'changed', changes: 0 }]);
});

test('threads mail by its current links, and merges the threads it leaves empty', async () => {
  const box = await stage.mailbox();
  const [root = '', response = ''] = await deliver(
    box,
    'Message-ID: <root@x.test>\nSubject: tea\nFrom: a@b.test\n\nx\n',
    'Message-ID: <answer@x.test>\nIn-Reply-To: <root@x.test>\nSubject: Re: tea\nFrom: c@d.test\n\nx\n',
  );
  const home = await readThread(root);
  await tearOff(box, response);
  const torn = await readThread(response);
  expect(torn['thread_id']).not.toBe(home['thread_id']);
  const [dry] = await reprocess(box, [response], 'dry', ['thread']);
  const [run] = await reprocess(box, [response], 'run', ['thread']);
  expect(run?.changes).toEqual(dry?.changes);
  expect(await readThread(response)).toEqual({ thread_id: home['thread_id'], thread_reason: 'header' });
  expect(await query('select thread_id from thread_alias where alias_id = $1', [torn['thread_id']])).toEqual([
    { thread_id: home['thread_id'] },
  ]);
  // Without anything that links them any more, each goes its way.
  await query(`update email_content set in_reply_to = '{}' where email_id = $1`, [response]);
  await query(`update email set subject = 'coffee', base_subject = 'coffee' where id = $1`, [response]);
  const [apart] = await reprocess(box, [response], 'run', ['thread']);
  expect(apart?.changes.map(({ field, after }) => [field, after])).toEqual([
    ['threadId', 'a new thread'],
    ['threadReason', 'new'],
  ]);
  expect(await faults(box.workspaceId)).toEqual([]);
});

test('keeps apart the threads that a user split', async () => {
  const box = await stage.mailbox();
  const [root = '', response = ''] = await deliver(
    box,
    'Message-ID: <r@y.test>\nSubject: cake\nFrom: a@b.test\n\nx\n',
    'Message-ID: <a@y.test>\nIn-Reply-To: <r@y.test>\nSubject: Re: cake\nFrom: c@d.test\n\nx\n',
  );
  const { thread_id: threadId } = await readThread(root);
  await splitThread(stage.makeContext(box.workspaceId), String(threadId), [response]);
  const run = await reprocess(box, [root, response], 'run', ['parse', 'thread']);
  expect(run.flatMap(listFields)).toEqual([]);
  expect((await readThread(response))['thread_reason']).toBe('manual');
});

test('decides a route again, stores it, and delivers the email accordingly', async () => {
  const box = await stage.mailbox({ endpointUrl: receiver.url });
  const [id = '', blocked = ''] = await deliver(
    box,
    'Subject: welcome\nFrom: a@b.test\n\nx\n',
    'Subject: casino\nFrom: a@b.test\n\nx\n',
  );
  const ruleId = await addRule(stage.database, box, { action: 'block', subject: 'casino' });
  // Not when the webhooks arrive: until their outcomes are stored, the deliveries are under way.
  await untilDeliveries(
    stage.database,
    box.endpointId,
    (all) => all.length === 2 && all.every(({ status }) => status === 'success'),
  );
  const before = receiver.requests.length;
  const [first, second] = await reprocess(box, [id, blocked], 'run', ['route']);
  expect(first).toMatchObject({ changes: [], endpointId: box.endpointId, deliveryId: expect.any(String), error: null });
  expect(second).toMatchObject({ endpointId: null, deliveryId: null, error: null });
  expect(second?.changes).toContainEqual({
    step: 'route',
    field: 'outcome',
    before: 'endpoint',
    after: 'blocked',
    differsAt: null,
  });
  expect(second?.changes).toContainEqual({
    step: 'route',
    field: 'ruleId',
    before: null,
    after: ruleId,
    differsAt: null,
  });
  const requests = await receiver.until((all) => all.length > before);
  expect(requests.slice(before).map(({ headers }) => headers['x-email-id'])).toEqual([id]);
  expect(await query('select outcome, rule_id from route where email_id = $1', [blocked])).toEqual([
    { outcome: 'blocked', rule_id: ruleId },
  ]);
  const kinds = await query(`select kind from event where email_id = $1 order by seq desc limit 2`, [blocked]);
  expect(kinds.map(({ kind }) => kind)).toEqual(['email.reprocessed', 'email.blocked']);
});

test('leaves mail unchanged that stops the parser, without delaying other mail, and reports mail that is being processed', async () => {
  const box = await stage.mailbox();
  const other = await stage.mailbox();
  const [good = '', bad = ''] = await deliver(
    box,
    'Subject: good\nFrom: a@b.test\n\nx\n',
    'Subject: =?poison?Q?exit=FF?=\nFrom: a@b.test\n\nx\n',
  );
  const [foreign = ''] = await deliver(other, 'Subject: theirs\nFrom: a@b.test\n\nx\n');
  const asStored = await snapshot(box.workspaceId);
  const unparsed = 'em_unparsed';
  await query(
    `insert into reception (workspace_id, email_id, raw_id, reverse_path, recipient, own_address, domain_id, remote_address, helo, is_tls,
       trace_fields, accepted_at, claimed_by, claimed_until)
     values ($1, $2, 'raw_x', '', $3, $3, 'dom', '', '', false, '', now(), 'another', now() + interval '1 hour')`,
    [box.workspaceId, unparsed, box.address],
  );
  const response = await reprocess(box, [good, bad, foreign, 'em_none', 'no id!', unparsed], 'dry');
  expect(response.map(({ error }) => error?.code ?? null)).toEqual([
    null,
    'validation',
    'not_found',
    'not_found',
    'not_found',
    'conflict',
  ]);
  expect(response[2]?.error).toEqual(response[3]?.error);
  await query('delete from reception where email_id = $1', [unparsed]);
  expect(await snapshot(box.workspaceId)).toEqual(asStored);
});

test.each([
  [[], ALL],
  [Array.from({ length: 101 }, (_, n) => `em_${n}`), ALL],
  [['em_1'], []],
] as const)('too few, too many, and no steps are refused', async (emailIds, steps) => {
  const box = await stage.mailbox();
  await expect(reprocess(box, emailIds, 'dry', [...steps])).rejects.toThrow(
    /^Give 1 to 100 emails|^Give at least one step/,
  );
});
