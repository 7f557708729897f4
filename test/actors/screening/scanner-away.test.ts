import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { WhenAway } from '../../../core/screening/scanner-options.ts';
import { readRawMessage } from '../../../operations/emails/attachments.ts';
import { readEmail } from '../../../operations/emails/emails.ts';
import { markNotSpam } from '../../../operations/screening/keep-apart.ts';
import { readQuarantined } from '../../../operations/screening/read-quarantined.ts';
import {
  EICAR,
  filterReplies,
  GTUBE,
  openTestScanners,
  startFilter,
  startVirusScanner,
} from '../../support/servers/scanners.ts';
import { type MailStage, openMailStage } from '../../support/stages/mail-stage.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const mail = (text: string) =>
  Buffer.from(['From: Ann <ann@elsewhere.test>', 'Subject: Friday', '', text, ''].join('\r\n'));

/** A stage whose scanners fail until `isAway` is false. */
async function openAway(
  whenAway: WhenAway,
): Promise<{ stage: MailStage; state: { isAway: boolean }; asked: () => number }> {
  const state = { isAway: true };
  const filter = await startFilter((_request, response) => {
    if (!state.isAway) return false;
    response.statusCode = 503;
    response.end('busy');
    return true;
  });
  closing.push(() => filter.stop());
  const viruses = await startVirusScanner();
  closing.push(() => viruses.stop());
  const stage = await openMailStage({
    scanners: openTestScanners({
      filter: { url: filter.url, whenAway },
      virus: { address: viruses.address, action: 'quarantine' },
      pauseMs: 1,
    }),
  });
  closing.push(() => stage.close());
  return { stage, state, asked: () => filter.requests.length };
}

async function until(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await pause(20);
}

async function readState(stage: MailStage, workspaceId: string) {
  const { rows } = await stage.database.pool.query<{ jobs: number; unparsed: number; emails: number; apart: number }>(
    `select (select count(*)::integer from screening_job where workspace_id = $1) as jobs,
       (select count(*)::integer from reception where workspace_id = $1 and parsed_at is null) as unparsed,
       (select count(*)::integer from email where workspace_id = $1) as emails,
       (select count(*)::integer from email where workspace_id = $1 and kept_apart is not null) as apart`,
    [workspaceId],
  );
  return rows[0];
}

const hasten = (stage: MailStage) => stage.database.pool.query(`update screening_job set next_attempt_at = now()`);

test('defers mail with 451 while the filter is away', async () => {
  const { stage } = await openAway('defer');
  const box = await stage.mailbox();
  await expect(stage.deliver(mail('Hello'), box.address)).rejects.toThrow('cannot be checked now');
  expect(await readState(stage, box.workspaceId)).toMatchObject({ jobs: 0, unparsed: 0, emails: 0 });
});

test('accepts mail while the filter is away, checks it later, and files the spam', async () => {
  const { stage, state } = await openAway('accept');
  const box = await stage.mailbox();
  const spam = await stage.deliver(mail(GTUBE), box.address);
  const clean = await stage.deliver(mail('Hello'), box.address);
  await stage.settled();
  const context = stage.makeContext(box.workspaceId);
  expect((await readEmail(context, spam)).screening).toBeNull();
  expect(await readState(stage, box.workspaceId)).toMatchObject({ jobs: 2, emails: 2, apart: 0 });
  state.isAway = false;
  await until(async () => {
    await hasten(stage);
    return (await readState(stage, box.workspaceId))?.jobs === 0;
  });
  expect(await readEmail(context, spam)).toMatchObject({ keptApart: 'spam', screening: { spam: { verdict: 'spam' } } });
  expect(await readEmail(context, clean)).toMatchObject({ keptApart: null, screening: { spam: { verdict: 'clean' } } });
});

test('holds mail while the filter is away, and receives it once when it is back', async () => {
  const { stage, state } = await openAway('hold');
  const box = await stage.mailbox();
  await stage.deliver(mail(GTUBE), box.address);
  const clean = await stage.deliver(mail('Hello'), box.address);
  expect(await readState(stage, box.workspaceId)).toEqual({ jobs: 2, unparsed: 2, emails: 0, apart: 0 });
  state.isAway = false;
  await until(async () => {
    await hasten(stage);
    return (await readState(stage, box.workspaceId))?.emails === 2;
  });
  await stage.settled();
  expect(await readState(stage, box.workspaceId)).toEqual({ jobs: 0, unparsed: 0, emails: 2, apart: 1 });
  expect(await readEmail(stage.makeContext(box.workspaceId), clean)).toMatchObject({
    screening: { spam: { verdict: 'clean' } },
  });
});

test('an email with a virus is kept in quarantine without its content', async () => {
  const { stage, state } = await openAway('accept');
  state.isAway = false;
  const box = await stage.mailbox();
  const id = await stage.deliver(mail(EICAR), box.address);
  await stage.settled();
  expect(await readEmail(stage.makeContext(box.workspaceId), id)).toMatchObject({
    keptApart: 'virus',
    text: null,
    attachments: [],
    hasRaw: false,
    screening: { virus: 'Eicar-Signature.UNOFFICIAL' },
  });
  const context = stage.makeContext(box.workspaceId);
  await expect(readRawMessage(context, id)).rejects.toThrow('not available');
  await expect(readQuarantined(context, id, null)).rejects.toThrow('has the virus Eicar-Signature.UNOFFICIAL');
  await expect(readQuarantined(context, id, 'Eicar')).rejects.toThrow('repeat the request');
  const file = await readQuarantined(context, id, 'Eicar-Signature.UNOFFICIAL');
  expect(file.contentType).toBe('application/octet-stream');
  expect(Buffer.from(file.bytes).toString()).toContain(EICAR);
  await expect(markNotSpam(context, id)).rejects.toThrow('in quarantine');
  const other = await stage.mailbox();
  const stranger = stage.makeContext(other.workspaceId);
  await expect(readQuarantined(stranger, id, 'Eicar-Signature.UNOFFICIAL')).rejects.toThrow('No email with this ID');
});

test('an email whose virus is found after its webhook leaves the lists and loses its content', async () => {
  let isAway = true;
  const viruses = await startVirusScanner((stream) =>
    isAway
      ? "INSTREAM: Can't allocate memory ERROR\0"
      : stream.includes(EICAR)
        ? 'stream: Eicar FOUND\0'
        : 'stream: OK\0',
  );
  closing.push(() => viruses.stop());
  const stage = await openMailStage({
    scanners: openTestScanners({ virus: { address: viruses.address }, pauseMs: 0 }),
  });
  closing.push(() => stage.close());
  const box = await stage.mailbox();
  const id = await stage.deliver(mail(EICAR), box.address);
  await stage.settled();
  const context = stage.makeContext(box.workspaceId);
  expect((await readEmail(context, id)).threadId).not.toBeNull();
  isAway = false;
  await until(async () => {
    await hasten(stage);
    return (await readState(stage, box.workspaceId))?.apart === 1;
  });
  expect(await readEmail(context, id)).toMatchObject({ keptApart: 'virus', text: null, preview: '', hasRaw: false });
  expect(Buffer.from((await readQuarantined(context, id, 'Eicar')).bytes).toString()).toContain(EICAR);
});

test.each([
  ['garbage', 'not JSON'],
  ['another form', '{"score":"high"}'],
  ['a huge reply', `{"score":1,"action":"${'x'.repeat(2_000_000)}"}`],
  ['a score that is no number', '{"score":1e999,"action":"no action","symbols":{}}'],
])('a filter that replies with %s counts as away', async (_what, reply) => {
  const filter = await startFilter((_request, response) => {
    response.end(reply);
    return true;
  });
  closing.push(() => filter.stop());
  const scanners = openTestScanners({ filter: { url: filter.url, whenAway: 'defer' } });
  closing.push(() => scanners.stop());
  const envelope = { reversePath: '', recipients: ['a@b.test'], remoteAddress: '192.0.2.1', helo: 'x' };
  await expect(scanners.spam?.check('usr', envelope, mail('Hello'))).rejects.toThrow(/rspamd replied/);
});

test('a filter that refuses connections is asked by one message only', async () => {
  const filter = await startFilter();
  await filter.stop();
  const scanners = openTestScanners({ filter: { url: filter.url } });
  closing.push(() => scanners.stop());
  const envelope = { reversePath: '', recipients: ['a@b.test'], remoteAddress: '192.0.2.1', helo: 'x' };
  const check = () => scanners.spam?.check('usr', envelope, mail('Hello'));
  await expect(check()).rejects.toThrow(/ECONNREFUSED/);
  await expect(check()).rejects.toThrow('it failed a moment ago');
});

test('one message that the filter cannot check does not stop the questions about others', async () => {
  const filter = await startFilter(({ body }, response) => {
    response.end(body.includes('poison') ? 'garbage' : filterReplies.clean);
    return true;
  });
  closing.push(() => filter.stop());
  const scanners = openTestScanners({ filter: { url: filter.url } });
  closing.push(() => scanners.stop());
  const envelope = { reversePath: '', recipients: ['a@b.test'], remoteAddress: '192.0.2.1', helo: 'x' };
  for (let count = 0; count < 5; count++) {
    await expect(scanners.spam?.check('usr', envelope, mail('poison'))).rejects.toThrow('not its own');
    expect(await scanners.spam?.check('usr', envelope, mail('Hello'))).toMatchObject({ verdict: 'clean' });
  }
});

test('a clamd that does not reply counts as away after its time limit', async () => {
  const viruses = await startVirusScanner(() => null);
  closing.push(() => viruses.stop());
  const scanners = openTestScanners({ virus: { address: viruses.address, limitMs: 50 } });
  await expect(scanners.virus?.scan(mail('Hello'))).rejects.toThrow('did not respond within 0.05 s');
});

test.each([
  ['an error', 'INSTREAM size limit exceeded. ERROR\0'],
  ['garbage', 'stream: OK and FOUND and more\0'],
  ['nothing', ''],
])('a clamd that says %s has not checked the message', async (_what, said) => {
  const viruses = await startVirusScanner(() => said);
  closing.push(() => viruses.stop());
  const scanners = openTestScanners({ virus: { address: viruses.address } });
  await expect(scanners.virus?.scan(mail('Hello'))).rejects.toThrow('clamd did not scan the message');
});
