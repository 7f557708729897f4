import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { readSenderFindings } from '../../../gateway/rest/emails/sender-findings.ts';
import { readEmail } from '../../../operations/emails/emails.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import {
  EICAR,
  type FilterServer,
  GTUBE,
  openTestScanners,
  startFilter,
  startVirusScanner,
  type VirusServer,
} from '../../support/servers/scanners.ts';
import { type MailStage, openMailStage } from '../../support/stages/mail-stage.ts';

let stage: MailStage;
let box: TestMailbox;
let filter: FilterServer;
let viruses: VirusServer;

beforeAll(async () => {
  filter = await startFilter();
  viruses = await startVirusScanner();
  stage = await openMailStage({
    scanners: openTestScanners({ filter: { url: filter.url }, virus: { address: viruses.address } }),
  });
}, 120_000);
beforeEach(async () => {
  box = await stage.mailbox();
});
afterEach(() => {
  filter.requests.splice(0);
  viruses.streams.splice(0);
});
afterAll(async () => {
  await stage?.close();
  await filter?.stop();
  await viruses?.stop();
});

const mail = (text: string, more: readonly string[] = []) =>
  Buffer.from(['From: Ann <ann@elsewhere.test>', 'Subject: Friday', ...more, '', text, ''].join('\r\n'));

async function readSecurity(id: string) {
  const context = stage.makeContext(box.workspaceId);
  const [findings] = await readSenderFindings(context, [await readEmail(context, id)]);
  return findings?.security;
}

test('a received email shows the verdict of the spam filter with its rules in words', async () => {
  const id = await stage.deliver(mail('suspect'), box.address);
  await stage.settled();
  expect(await readSecurity(id)).toMatchObject({
    spam: {
      verdict: 'suspected',
      score: 4.5,
      required: 15,
      symbols: [{ name: 'BAYES_SPAM', score: 4.5, description: 'Message probably spam, probability: 97.9%' }],
      by: 'filter',
    },
    virus: null,
  });
});

test('the spam filter gets the bytes and the envelope of a message', async () => {
  const bytes = mail('Hello');
  await stage.deliver(bytes, box.address);
  expect(filter.requests).toHaveLength(1);
  expect(filter.requests[0]).toMatchObject({
    path: '/checkv2',
    body: bytes.toString('latin1'),
    headers: {
      from: 'ann@elsewhere.test',
      rcpt: box.address,
      ip: '192.0.2.1',
      helo: 'elsewhere.test',
      hostname: 'unknown',
    },
  });
  expect(filter.requests[0]?.headers['deliver-to']).toMatch(/^[0-9a-f]{32}$/);
  expect(viruses.streams).toEqual([bytes]);
});

test('spam is stored apart: without a thread, a route, a delivery and a total', async () => {
  const id = await stage.deliver(mail(GTUBE), box.address);
  await stage.settled();
  expect(await readSecurity(id)).toMatchObject({ spam: { verdict: 'spam', score: 15, symbols: [{ name: 'GTUBE' }] } });
  const { rows } = await stage.database.pool.query(
    `select e.kept_apart, e.thread_id, e.trashed_at is not null as is_trashed,
       (select count(*)::integer from route r where r.workspace_id = e.workspace_id) as routes,
       (select count(*)::integer from thread r where r.workspace_id = e.workspace_id) as threads,
       (select count(*)::integer from email_counter r where r.workspace_id = e.workspace_id) as totals,
       (select count(*)::integer from email_search r where r.workspace_id = e.workspace_id) as words,
       (select array_agg(r.kind order by r.seq) from event r where r.workspace_id = e.workspace_id) as events
     from email e where e.workspace_id = $1`,
    [box.workspaceId],
  );
  expect(rows).toEqual([
    {
      kept_apart: 'spam',
      thread_id: null,
      is_trashed: true,
      routes: 0,
      threads: 0,
      totals: 0,
      words: 0,
      events: ['email.spam'],
    },
  ]);
});

test('fields of a message that claim a verdict change nothing', async () => {
  const claims = ['X-Spam-Flag: NO', 'X-Spam-Status: No, score=-99', 'X-Spamd-Result: default: False [-9.99 / 15.00]'];
  const id = await stage.deliver(mail(GTUBE, claims), box.address);
  await stage.settled();
  expect(await readSecurity(id)).toMatchObject({ spam: { verdict: 'spam' } });
  const other = await stage.deliver(mail('Hello', ['X-Spam-Flag: YES']), box.address);
  await stage.settled();
  expect(await readSecurity(other)).toMatchObject({ spam: { verdict: 'clean', score: -0.1 } });
});

test('a message with a virus is refused with its name, and nothing is stored', async () => {
  await expect(stage.deliver(mail(EICAR), box.address)).rejects.toThrow(
    'The message has a virus: Eicar-Signature.UNOFFICIAL',
  );
  const { rows } = await stage.database.pool.query('select from reception where workspace_id = $1', [box.workspaceId]);
  expect(rows).toEqual([]);
});
