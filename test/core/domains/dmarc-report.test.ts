import { describe, expect, test } from 'vitest';
import {
  examineDmarcReport,
  MAX_DMARC_RECORDS,
  MAX_PARSED_LENGTH,
  readDmarcReport,
} from '../../../core/domains/dmarc-report.ts';
import { dmarcXml, recordXml } from '../../support/mail/dmarc-reports.ts';

const begin = new Date('2026-11-20T00:00:00Z');
const end = new Date('2026-11-20T23:59:59Z');
const xml = dmarcXml({ domain: 'own.test', reportId: 'r.1', begin, end });
const record = {
  sourceIp: '192.0.2.1',
  count: 1,
  disposition: 'none',
  dkim: 'pass',
  spf: 'pass',
  headerFrom: 'own.test',
  envelopeFrom: null,
  dkimResults: [{ domain: 'own.test', selector: 's1', result: 'pass' }],
  spfResults: [{ domain: 'bounce.own.test', result: 'pass' }],
};

test('parses a report of RFC 7489 completely', () => {
  expect(readDmarcReport(xml)).toEqual({
    organization: 'receiver.test',
    email: 'dmarc@receiver.test',
    reportId: 'r.1',
    begin,
    end,
    policy: { domain: 'own.test', adkim: 'r', aspf: 's', p: 'none', sp: 'none', np: null, pct: 100 },
    records: [record],
    messageCount: 1,
    alignedCount: 1,
    isTruncated: false,
  });
});

test('parses a report of RFC 9990 with a namespace, other fields and another order', () => {
  const report = readDmarcReport(`<?xml version="1.0"?>
    <d:feedback xmlns:d="urn:ietf:params:xml:ns:dmarc-2.0"><d:version>1.0</d:version>
      <d:record a="x"><d:row><d:source_ip>2001:DB8::7</d:source_ip><d:count> 12 </d:count>
        <d:policy_evaluated><d:disposition>pass</d:disposition><d:dkim>fail</d:dkim><d:spf>pass</d:spf>
          <d:reason><d:type>local_policy</d:type></d:reason></d:policy_evaluated></d:row>
        <d:identifiers><d:envelope_to>x.test</d:envelope_to><d:envelope_from>Bounce.Own.Test.</d:envelope_from>
          <d:header_from>OWN.test</d:header_from></d:identifiers>
        <d:auth_results><d:spf><d:domain>a.test</d:domain><d:scope>mfrom</d:scope><d:result>softfail</d:result></d:spf></d:auth_results>
      </d:record>
      <!-- <x> -->
      <d:policy_published><d:domain>Own.Test.</d:domain><d:discovery_method>treewalk</d:discovery_method><d:p>reject</d:p>
        <d:np>quarantine</d:np><d:testing>n</d:testing></d:policy_published>
      <d:report_metadata><d:org_name><![CDATA[A & B]]></d:org_name><d:report_id>&lt;x&#64;y&#x3e;</d:report_id>
        <d:date_range><d:begin>1763596800</d:begin><d:end>1763683199</d:end></d:date_range></d:report_metadata>
    </d:feedback>`);
  expect(report).toMatchObject({
    organization: 'A & B',
    email: null,
    reportId: '<x@y>',
    policy: { domain: 'own.test', adkim: null, p: 'reject', sp: null, np: 'quarantine', pct: null },
    records: [
      {
        sourceIp: '2001:db8::7',
        count: 12,
        disposition: 'pass',
        dkim: 'fail',
        spf: 'pass',
        headerFrom: 'own.test',
        envelopeFrom: 'bounce.own.test',
        dkimResults: [],
        spfResults: [{ domain: 'a.test', result: 'softfail' }],
      },
    ],
    messageCount: 12,
    alignedCount: 12,
  });
});

test('mail passes if DKIM or SPF passes', () => {
  const records = (['pass', 'fail'] as const).flatMap((dkim) =>
    (['pass', 'fail'] as const).map((spf) => ({ dkim, spf, count: 10 })),
  );
  expect(readDmarcReport(dmarcXml({ domain: 'own.test', records }))).toMatchObject({
    messageCount: 40,
    alignedCount: 30,
  });
});

test('keeps the first of many records and counts all', () => {
  const records = Array.from({ length: MAX_DMARC_RECORDS + 3 }, () => ({ count: 2, spf: 'fail' as const }));
  records.push({ count: 5, dkim: 'fail', spf: 'fail' } as never);
  const report = readDmarcReport(dmarcXml({ domain: 'own.test', records }));
  expect(report?.records).toHaveLength(MAX_DMARC_RECORDS);
  expect(report).toMatchObject({ messageCount: 2_011, alignedCount: 2_006, isTruncated: true });
});

test('only counts records after the first million characters', () => {
  const bloated = xml.replace('</row>', `</row>${'x<b/>'.repeat(12_000)}`);
  const [head = '', tail = ''] = bloated.split(/<record>[^]*<\/record>/);
  const one = bloated.slice(head.length, bloated.length - tail.length);
  // It takes half a minute to parse all of it, more than a thread of the receiving actor is given.
  const report = readDmarcReport(head + one.repeat(300) + tail);
  expect(report).toMatchObject({ messageCount: 300, alignedCount: 300, isTruncated: true });
  expect(report?.records).toHaveLength(Math.floor(MAX_PARSED_LENGTH / one.length));
});

test.each([
  ['no address', { sourceIp: 'localhost' }],
  ['a count that is none', { count: '1e99' }],
  ['a negative count', { count: -1 }],
  ['a name that is too long', { headerFrom: 'x'.repeat(300) }],
])('a record with %s is dropped, and the report is marked as truncated', (_, wrong) => {
  const report = readDmarcReport(dmarcXml({ domain: 'own.test', records: [wrong, {}] }));
  expect(report).toMatchObject({ records: [record], messageCount: 1, isTruncated: true });
});

describe('reads what receivers get wrong:', () => {
  const complete = readDmarcReport(xml);

  test.each<[string, string, object]>([
    ['an empty org_name', xml.replace('>receiver.test<', '> <'), {}],
    [
      'neither org_name nor email',
      xml.replace('>receiver.test<', '><').replace('dmarc@receiver.test', ''),
      { organization: 'unknown', email: null },
    ],
    [
      'no report id',
      xml.replace('r.1', ''),
      { reportId: `own.test!${begin.getTime() / 1_000}!${end.getTime() / 1_000}` },
    ],
    [
      'a schema element that is not closed',
      xml.replace('<feedback>', '<xs:schema xmlns:xs="x" targetNamespace="y">\n<feedback>'),
      {},
    ],
    [
      'a schema element that is closed',
      `${xml.replace('<feedback>', '<xs:schema xmlns:xs="x"><feedback>')}</xs:schema>`,
      {},
    ],
    ['text before and after the document', `unused\n${xml}\r\n\0\0 trailer <x>`, {}],
    ['no end of the document', xml.replace('</feedback>', ''), {}],
    ['results in upper case', xml.replaceAll('>pass<', '>Pass<'), {}],
    [
      'dates instead of seconds',
      xml.replace(/<begin>\d+/, '<begin>2026-11-20').replace(/<end>\d+/, '<end>2026-11-20 23:59:59'),
      {},
    ],
  ])('%s', (_, text, change) => {
    expect(examineDmarcReport(text)).toEqual({ ...complete, ...change });
  });
});

test('says what is wrong with a document', () => {
  expect(examineDmarcReport('unused')).toBe('There is no element `feedback`.');
  expect(examineDmarcReport(xml.replace('<row>', '<row'))).toBe('No record is readable.');
  expect(examineDmarcReport(`<!DOCTYPE f>${xml}`)).toBe('A document type is not allowed.');
});

describe('rejects', () => {
  test.each<[string, string]>([
    ['nothing', ''],
    ['no XML', 'own.test'],
    ['another document', '<html><body/></html>'],
    ['no records', dmarcXml({ domain: 'own.test', records: [] })],
    ['records that cannot be read', dmarcXml({ domain: 'own.test', records: [{ sourceIp: 'x' }] })],
    ['a record that does not end', xml.replace('</record>', '')],
    ['no domain', xml.replace('own.test', '')],
    ['a domain that is none', dmarcXml({ domain: 'a..b' })],
    ['no time', xml.replace(/<date_range>.*?<\/date_range>/s, '')],
    ['a time that ends before it begins', dmarcXml({ domain: 'own.test', begin: end, end: begin })],
    ['a document type', xml.replace('<feedback>', '<!DOCTYPE feedback [<!ENTITY a "b">]><feedback>')],
    ['a document type within a record', xml.replace('<row>', '<!DOCTYPE r [<!ENTITY a "b">]><row>')],
    ['too much around the records', xml.replace('<feedback>', `<feedback><x>${' y'.repeat(200_000)}</x>`)],
    ['elements too deep', xml.replace('<feedback>', `<feedback>${'<x>'.repeat(60)}${'</x>'.repeat(60)}`)],
    [
      'more records than can be',
      xml.replace('</feedback>', `${recordXml({}, 'a').slice(0, 8)}</record>`.repeat(100_001)),
    ],
  ])('%s', (_, text) => {
    expect(readDmarcReport(text)).toBeNull();
  });

  test('names of Object.prototype members are ordinary text', () => {
    const report = readDmarcReport(
      xml.replace('<feedback>', '<feedback><__proto__><x>1</x></__proto__><constructor>1</constructor>'),
    );
    expect(report === null || report.records.length === 1).toBe(true);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('entities are shown as written', () => {
    expect(readDmarcReport(xml.replace('receiver.test', '&boom; &amp;lt;'))?.organization).toBe('&boom; &lt;');
  });
});
