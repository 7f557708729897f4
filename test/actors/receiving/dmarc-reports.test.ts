import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { corporaDirectory, hasCorpora } from '../../support/mail/corpora.ts';
import { dmarcXml, mailWith, makeZip, recordXml, reportFiles } from '../../support/mail/dmarc-reports.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openReportActors, type ReportActors } from '../../support/servers/report-actors.ts';

let actors: ReportActors;
let mailbox: TestMailbox;
let domain: string;

beforeAll(async () => {
  actors = await openReportActors();
});
afterAll(() => actors.close());
beforeEach(async () => {
  mailbox = await actors.mailbox();
  domain = mailbox.address.split('@')[1] ?? '';
});

async function reports(workspaceId = mailbox.workspaceId): Promise<Record<string, unknown>[]> {
  const { rows } = await actors.database.pool.query('select * from dmarc_report where workspace_id = $1 order by id', [
    workspaceId,
  ]);
  return rows;
}

async function events(): Promise<Record<string, unknown>[]> {
  const { rows } = await actors.database.pool.query(
    `select seq, kind, email_id, data from event where workspace_id = $1 and kind <> 'email.threaded' order by seq`,
    [mailbox.workspaceId],
  );
  return rows;
}

/** What is stored of a mail, as far as reports may matter to it. */
async function mail(emailId: string | number): Promise<Record<string, unknown> | undefined> {
  const { rows } = await actors.database.pool.query(
    `select e.attachment_count, c.parse_error, c.text_body from email e join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
     where e.id = $1`,
    [emailId],
  );
  return rows[0];
}

const asMail = { attachment_count: 1, parse_error: null, text_body: 'A report is attached.' };

test.each(['zip', 'gzip', 'xml'] as const)('a report as %s is stored beside its email, with an event', async (form) => {
  const records = [{ count: 7 }, { sourceIp: '2001:db8::1', count: 3, dkim: 'fail', spf: 'fail' }] as const;
  const xml = dmarcXml({ domain, reportId: 'r-1', records });
  const emailId = await actors.deliver(mailWith(reportFiles(xml)[form]), mailbox.address);
  const [report, ...others] = await reports();
  expect(others).toEqual([]);
  expect(report).toMatchObject({
    id: expect.stringMatching(/^dmr_/),
    email_id: emailId,
    domain,
    domain_id: mailbox.domainId,
    organization: 'receiver.test',
    report_id: 'r-1',
    policy: { domain, p: 'none' },
    records: [{ count: 7 }, { sourceIp: '2001:db8::1', dkim: 'fail' }],
    record_count: 2,
    message_count: 10,
    aligned_count: 7,
    is_truncated: false,
  });
  expect(await mail(emailId)).toEqual(asMail);
  expect(await events()).toEqual([
    expect.objectContaining({ seq: 1, kind: 'email.received' }),
    {
      seq: 3,
      kind: 'dmarc.report_received',
      email_id: emailId,
      data: {
        dmarcReportId: report?.['id'],
        domainId: mailbox.domainId,
        domain,
        organization: 'receiver.test',
        messageCount: 10,
        alignedCount: 7,
      },
    },
  ]);
});

test('a report is recognized by a file name of any type, and by its content whatever the name says', async () => {
  const { gzip } = reportFiles(dmarcXml({ domain }));
  await actors.deliver(mailWith({ ...gzip, contentType: 'application/octet-stream' }), mailbox.address);
  await actors.deliver(mailWith({ ...gzip, contentType: 'application/zip', filename: 'a.zip' }), mailbox.address);
  const [first, last] = [gzip.content.subarray(0, 40), gzip.content.subarray(40)];
  const lineEnd = Buffer.from('\r\n');
  const zip = reportFiles(dmarcXml({ domain })).zip.content;
  for (const content of [Buffer.concat([first, last, lineEnd]), Buffer.concat([zip, lineEnd])])
    await actors.deliver(
      mailWith({ content, contentType: 'application/octet-stream', filename: 'report.gz' }),
      mailbox.address,
    );
  expect(await reports()).toHaveLength(4);
});

describe('a report belongs to the nearest verified domain of the user', () => {
  test('at, above or below the domain of its policy', async () => {
    const below = await actors.mailbox({
      workspaceId: mailbox.workspaceId,
      domain: `a.${domain}`,
      address: `x@a.${domain}`,
    });
    for (const name of [`deep.${domain}`, `deep.a.${domain}`, domain])
      await actors.deliver(mailWith(reportFiles(dmarcXml({ domain: name })).zip), mailbox.address);
    expect((await reports()).map((report) => report['domain_id'])).toEqual([
      mailbox.domainId,
      below.domainId,
      mailbox.domainId,
    ]);
    const alone = await actors.mailbox({ domain: `b.c${domain}`, address: `x@b.c${domain}` });
    await actors.deliver(mailWith(reportFiles(dmarcXml({ domain: `c${domain}` })).zip), alone.address);
    expect(await reports(alone.workspaceId)).toMatchObject([{ domain: `c${domain}`, domain_id: alone.domainId }]);
  });

  test('and is only mail when it is about another user, a pending domain, or a name that only ends alike', async () => {
    const other = await actors.mailbox();
    const pending = await actors.mailbox({
      workspaceId: mailbox.workspaceId,
      domain: `p${domain}`,
      address: `x@p${domain}`,
      domainStatus: 'pending',
    });
    const foreign = [other.address.split('@')[1] ?? '', `x${domain}`, pending.address.split('@')[1] ?? '', 'test'];
    for (const name of foreign) {
      const emailId = await actors.deliver(mailWith(reportFiles(dmarcXml({ domain: name })).zip), mailbox.address);
      expect(await mail(emailId), name).toEqual(asMail);
    }
    expect([await reports(), await reports(other.workspaceId)]).toEqual([[], []]);
    expect((await events()).map((event) => event['kind'])).toEqual(foreign.map(() => 'email.received'));
  });
});

test('each recipient of one message gets a report of its own', async () => {
  const second = await actors.mailbox({ workspaceId: mailbox.workspaceId, domain, address: `second@${domain}` });
  const bytes = mailWith(reportFiles(dmarcXml({ domain })).zip);
  await actors.deliver(bytes, mailbox.address);
  await actors.deliver(bytes, second.address);
  expect(new Set((await reports()).map((report) => report['email_id'])).size).toBe(2);
});

describe('an invalid report is stored as mail only', () => {
  const bomb = Buffer.alloc(60_000_000, ' ');
  const small = () => Buffer.from(dmarcXml({ domain }));
  const many = () => {
    const record = recordXml({}, domain);
    return dmarcXml({ domain }).replace(
      '</feedback>',
      `${record.repeat(Math.floor(19_500_000 / record.length))}</feedback>`,
    );
  };
  const laughs = () =>
    small()
      .toString()
      .replace(
        '<feedback>',
        `<!DOCTYPE f [<!ENTITY a "ha"><!ENTITY b "${'&a;'.repeat(50)}"><!ENTITY c "${'&b;'.repeat(50)}">]>\n<feedback>`,
      )
      .replace('receiver.test</org_name>', '&c;</org_name>');
  const form = (content: Buffer, form_: 'zip' | 'gzip' | 'xml') => ({ ...reportFiles('')[form_], content });
  const cases: Record<string, () => ReturnType<typeof form>> = {
    'a gzip that unpacks to 60 MB': () => reportFiles(bomb.toString('latin1')).gzip,
    'an archive that unpacks to 60 MB': () => form(makeZip([{ name: 'a.xml', content: bomb }]), 'zip'),
    'an archive that hides its size': () => form(makeZip([{ name: 'a.xml', content: bomb, toldSize: 1_000 }]), 'zip'),
    'many gzip files in a row that unpack to 60 MB together': () =>
      form(Buffer.concat(Array.from({ length: 6 }, () => gzipSync(bomb.subarray(0, 10_000_000)))), 'gzip'),
    'an archive of archives': () =>
      form(makeZip([{ name: 'a.zip', content: makeZip([{ name: 'a.xml', content: small() }]) }]), 'zip'),
    'an archive of many files': () =>
      form(makeZip(Array.from({ length: 11 }, (_, n) => ({ name: `${n}.xml`, content: small() }))), 'zip'),
    'an encrypted archive': () => form(makeZip([{ name: 'a.xml', content: small(), isEncrypted: true }]), 'zip'),
    'half an archive': () => form(makeZip([{ name: 'a.xml', content: small() }]).subarray(0, 200), 'zip'),
    'half a gzip': () => form(reportFiles(small().toString()).gzip.content.subarray(0, 100), 'gzip'),
    'a document type with entities': () => reportFiles(laughs()).gzip,
    'elements within elements without end': () => reportFiles(`<feedback>${'<a>'.repeat(6_000_000)}`).gzip,
    'two million empty records': () =>
      reportFiles(dmarcXml({ domain }).replace('</feedback>', `${'<record/>'.repeat(2_000_000)}</feedback>`)).gzip,
    'text that is no XML': () => reportFiles('receiver.test!own.test').xml,
    'an empty file': () => form(Buffer.alloc(0), 'xml'),
    'a single octet': () => form(Buffer.from([0x1f]), 'gzip'),
  };

  test.each(Object.keys(cases))('when it is %s', async (name) => {
    const file = cases[name]?.() ?? form(Buffer.alloc(0), 'xml');
    const bytes = mailWith(file);
    const emailId = await actors.deliver(bytes, mailbox.address);
    expect(await mail(emailId)).toEqual(asMail);
    expect(await reports()).toEqual([]);
  });

  test('the first 1,000 of 40,000 records are stored, and all are counted', async () => {
    const xml = many();
    await actors.deliver(mailWith(reportFiles(xml).gzip), mailbox.address);
    const [report] = await reports();
    expect(report).toMatchObject({ record_count: 1_000, is_truncated: true });
    expect(report?.['message_count']).toBe(xml.split('<record>').length - 1);
  });
});

test.skipIf(!hasCorpora)('a report of a real receiver is read', async () => {
  const real = await actors.mailbox({ domain: 'stalw.art', address: 'domains@stalw.art' });
  const bytes = await readFile(path.join(corporaDirectory, 'eml/stalwart-reports__dmarc1.eml'));
  await actors.deliver(Buffer.from(bytes.toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1'), real.address);
  expect(await reports(real.workspaceId)).toMatchObject([
    {
      domain: 'stalw.art',
      domain_id: real.domainId,
      organization: 'google.com',
      report_id: '5264580628977113351',
      begins_at: new Date('2022-11-27T00:00:00Z'),
      ends_at: new Date('2022-11-27T23:59:59Z'),
      message_count: 1,
      aligned_count: 1,
      records: [
        {
          sourceIp: '2a01:4f9:c011:b43c::1',
          dkimResults: [{ domain: 'stalw.art', selector: 'velikisrpan22', result: 'pass' }],
        },
      ],
    },
  ]);
});
