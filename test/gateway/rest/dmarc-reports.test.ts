import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dmarcRow } from '../../../actors/receiving/email-rows.ts';
import { readDmarcReport } from '../../../core/domains/dmarc-report.ts';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { insertDmarcReports } from '../../../db/queries/domains/dmarc-write.ts';
import { dmarcXml, type ReportOptions } from '../../support/mail/dmarc-reports.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let mine: TestMailbox;
let domain: string;

beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  mine = await gateway.mailbox();
  domain = mine.address.split('@')[1] ?? '';
});

const day = (ago: number) => new Date(Date.now() - ago * 86_400_000);

async function insert(options: Partial<ReportOptions> = {}): Promise<string> {
  const report = readDmarcReport(dmarcXml({ domain, ...options }));
  if (report === null) throw new Error('no report');
  const emailId = makeIdentifier('email', new Date(), randomBytes(10));
  const row = dmarcRow({ workspaceId: mine.workspaceId, emailId }, report, (kind) =>
    makeIdentifier(kind, new Date(), randomBytes(10)),
  );
  await inTransaction(gateway.actor, (client) => insertDmarcReports(client, [row]));
  return emailId;
}

async function get(path: string) {
  const response = await gateway.call(mine.apiKey, 'GET', `/domains/${mine.domainId}${path}`);
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

test('reports are listed, newest first, in pages', async () => {
  const emailIds = [];
  for (const ago of [2, 0, 1]) emailIds.push(await insert({ end: day(ago), reportId: `r${ago}` }));
  const first = await get('/dmarc-reports?limit=2');
  expect(first).toMatchObject({
    object: 'list',
    has_more: true,
    pagination: { limit: 2, offset: 0, total: 3, hasMore: true },
  });
  expect(first.data.map((report: { reportId: string }) => report.reportId)).toEqual(['r0', 'r1']);
  expect(first.data[0]).toEqual({
    object: 'dmarc_report',
    id: expect.stringMatching(/^dmr_/),
    domain,
    organization: 'receiver.test',
    reportId: 'r0',
    begin: expect.any(String),
    end: expect.any(String),
    policy: { domain, adkim: 'r', aspf: 's', p: 'none', sp: 'none', np: null, pct: 100 },
    messageCount: 1,
    alignedCount: 1,
    emailId: emailIds[1],
    createdAt: expect.any(String),
    isTruncated: false,
  });
  const second = await get('/dmarc-reports?limit=2&offset=2');
  expect([second.data.length, second.data[0].reportId, second.has_more]).toEqual([1, 'r2', false]);
});

test('one report is read with its records', async () => {
  await insert({ records: [{ sourceIp: '2001:db8::1', count: 4, dkim: 'fail' }] });
  const { id } = (await get('/dmarc-reports')).data[0];
  expect(await get(`/dmarc-reports/${id}`)).toMatchObject({
    id,
    messageCount: 4,
    alignedCount: 4,
    records: [
      {
        sourceIp: '2001:db8::1',
        count: 4,
        disposition: 'none',
        dkim: 'fail',
        spf: 'pass',
        headerFrom: domain,
        envelopeFrom: null,
        dkimResults: [{ domain, selector: 's1', result: 'fail' }],
        spfResults: [{ domain: `bounce.${domain}`, result: 'pass' }],
      },
    ],
  });
});

test('a report is found at its own domain only', async () => {
  const other = await gateway.mailbox({ workspaceId: mine.workspaceId });
  await insert();
  const { id } = (await get('/dmarc-reports')).data[0];
  const responses = await Promise.all(
    [`/domains/${other.domainId}/dmarc-reports/${id}`, `/domains/${mine.domainId}/dmarc-reports/dmr_unknown`].map(
      (path) => gateway.call(mine.apiKey, 'GET', path),
    ),
  );
  expect(responses.map((response) => response.statusCode)).toEqual([404, 404]);
  expect(responses[0]?.body).toBe(responses[1]?.body);
});

describe('the summary of reports', () => {
  test('adds up the mail by its sources, and gives advice', async () => {
    const good = { sourceIp: '192.0.2.1', count: 90 };
    const bad = { sourceIp: '192.0.2.9', count: 20, dkim: 'fail', spf: 'fail' } as const;
    for (const ago of [0, 4, 8]) await insert({ end: day(ago), reportId: `r${ago}`, records: [bad, good] });
    const summary = await get('/dmarc');
    expect(summary).toMatchObject({
      object: 'dmarc_summary',
      domain,
      reportCount: 3,
      messages: 330,
      aligned: 270,
      alignedPercent: 81.8,
      policy: { p: 'none' },
      isTruncated: false,
    });
    expect(summary.sources).toEqual([
      { sourceIp: '192.0.2.1', headerFrom: domain, count: 270, alignedCount: 270 },
      { sourceIp: '192.0.2.9', headerFrom: domain, count: 60, alignedCount: 0 },
    ]);
    expect(summary.advice).toContain('60 messages failed, 60 of them from 192.0.2.9');
  });

  test('counts a report once that arrived twice, and none that is older than 30 days', async () => {
    await insert({ reportId: 'twice' });
    await insert({ reportId: 'twice' });
    await insert({ reportId: 'old', end: day(31) });
    expect(await get('/dmarc')).toMatchObject({ reportCount: 1, messages: 1 });
    expect((await get('/dmarc-reports')).pagination.total).toBe(3);
  });

  test('names 100 sources, and the worst even when it is not among them', async () => {
    const records = Array.from({ length: 150 }, (_, n) => ({ sourceIp: `192.0.2.${n}`, count: 100 + n }));
    await insert({ records: [...records, { sourceIp: '198.51.100.1', count: 50, dkim: 'fail', spf: 'fail' }] });
    const { sources, advice, messages } = await get('/dmarc');
    expect([sources.length, sources[0].sourceIp]).toEqual([100, '192.0.2.149']);
    expect(messages).toBe(150 * 100 + (150 * 149) / 2 + 50);
    expect(advice).not.toContain('NaN');
  });

  test('says so when there are more records than its limit', async () => {
    await insert({
      records: Array.from({ length: 1_000 }, (_, n) => ({ sourceIp: `192.0.${n % 4}.${n % 250}`, count: 1 })),
    });
    await gateway.actor.pool.query(
      `insert into dmarc_report (workspace_id, id, email_id, domain, domain_id, organization, report_id, begins_at, ends_at, policy, records,
         record_count, message_count, aligned_count, created_at)
       select workspace_id, id || n, email_id || n, domain, domain_id, organization, n::text, begins_at, ends_at, policy, records,
         record_count, message_count, aligned_count, created_at from dmarc_report, generate_series(1, 300) n where workspace_id = $1`,
      [mine.workspaceId],
    );
    const { sources, ...summary } = await get('/dmarc');
    expect(summary).toMatchObject({ reportCount: 301, messages: 301_000, isTruncated: true });
    expect(sources).toHaveLength(100);
  });

  test('asks for reports of a domain that has none', async () => {
    expect(await get('/dmarc')).toMatchObject({
      reportCount: 0,
      messages: 0,
      alignedPercent: null,
      policy: null,
      sources: [],
      advice: expect.stringContaining(`rua=mailto:dmarc@${domain}`),
    });
  });
});
