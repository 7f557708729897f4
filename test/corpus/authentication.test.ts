import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { createDnsResolver } from '../../actors/network/dns-resolver.ts';
import { authenticateMessage } from '../../actors/receiving/authenticate-message.ts';
import { parseMessage } from '../../core/mime/parse-message.ts';
import { corporaDirectory, hasCorpora } from '../support/mail/corpora.ts';
import { type DnsServer, startDnsServer } from '../support/servers/dns.ts';

/** Cases that share a zone. */
interface Scenario {
  tests: Record<string, Case>;
  zonedata?: Record<string, ZoneRecord[]>;
  'txt-records'?: Record<string, string>;
}

interface Case {
  helo: string;
  host: string;
  mailfrom: string;
  result: string | string[];
  message: string | null;
  cv: string | null;
}

/** A record by its type, or `TIMEOUT`: all further lookups of the name fail. */
type ZoneRecord = 'TIMEOUT' | Record<string, unknown>;

const SENDER = { remoteAddress: '192.0.2.1', helo: 'mx.test', reversePath: '' };

describe.skipIf(!hasCorpora)('of the authentication tests of the corpora', () => {
  let dns: DnsServer;

  beforeAll(async () => {
    dns = await startDnsServer();
  });
  afterAll(() => dns.stop());

  test('all 203 cases of RFC 7208 have the expected result', async () => {
    const missed: string[] = [];
    let count = 0;
    for (const { tests, zonedata = {} } of await readScenarios('rfc7208-tests.yml')) {
      serve(zonedata);
      const resolver = createDnsResolver({ servers: [dns.address] });
      const message = Buffer.from('From: joe@author.test\r\nSubject: a\r\n\r\nHello\r\n');
      const parsed = await parseMessage(message);
      for (const [name, { host, helo, mailfrom, result }] of Object.entries(tests)) {
        const sender = { remoteAddress: host, helo, reversePath: mailfrom ?? '' };
        const { spf } = await authenticateMessage(message, parsed, sender, resolver);
        count++;
        if (![result].flat().includes(spf.result))
          missed.push(`${name}: ${spf.result}, not ${[result].flat().join(' or ')}`);
      }
    }
    expect(missed).toEqual([]);
    expect(count).toBe(203);
  });

  test('no ARC chain passes that must not; two that may pass do not', async () => {
    const missed: string[] = [];
    let count = 0;
    for (const { tests, 'txt-records': records = {} } of await readScenarios('arc-draft-validation-tests.yml')) {
      dns.clear();
      for (const [name, text] of Object.entries(records)) dns.set(name, 'TXT', [text]);
      const resolver = createDnsResolver({ servers: [dns.address] });
      for (const [name, { message, cv }] of Object.entries(tests)) {
        const bytes = Buffer.from((message ?? '').replaceAll('\n', '\r\n'), 'latin1');
        const { arc } = await authenticateMessage(bytes, await parseMessage(bytes), SENDER, resolver);
        count++;
        if (arc.result !== expectedChain(cv)) missed.push(`${name}: ${arc.result}, not ${cv}`);
      }
    }
    // Both signatures break RFC 6376 §3.5: without c= the form is simple/simple, and h= must name From.
    expect(missed).toEqual(['ams_fields_c_na: fail, not Pass', 'ams_fields_h_empty: fail, not Pass']);
    expect(count).toBe(171);
  });

  /** A name that times out fails with SERVFAIL, which is what a resolver returns then. */
  function serve(zone: Record<string, ZoneRecord[]>): void {
    dns.clear();
    for (const [name, records] of Object.entries(zone)) {
      const byType = new Map<string, unknown[]>();
      const isSilent = records.includes('TIMEOUT');
      const given = records.flatMap((record) => (record === 'TIMEOUT' ? [] : Object.entries(record)));
      // Records of the former type SPF are meant as TXT, unless the name has TXT records of its own.
      const hasText = given.some(([type]) => type === 'TXT');
      for (const [type, data] of given) {
        const actual = type === 'SPF' && !hasText ? 'TXT' : type;
        const held = byType.get(actual) ?? [];
        byType.set(actual, data === 'NONE' ? held : [...held, toData(actual, data)]);
      }
      for (const type of ['A', 'AAAA', 'TXT', 'MX', 'PTR', 'CNAME']) {
        const held = byType.get(type) ?? [];
        if (held.includes('TIMEOUT') || (isSilent && held.length === 0)) dns.set(name, type, 'SERVFAIL');
        else dns.set(name, type, held);
      }
    }
  }
});

/** An empty `cv` stands for a chain that had failed before: its status is "fail" (RFC 8617 §5.2 step 2). */
function expectedChain(cv: string | null): string {
  return cv === null || cv === '' ? 'fail' : cv.toLowerCase();
}

function toData(type: string, data: unknown): unknown {
  // What is longer than one string of a TXT record is divided (RFC 1035 §3.3); a long one is within a list, too.
  if (type === 'TXT') return [data].flat().join('');
  return type === 'MX' && Array.isArray(data) ? { preference: data[0], exchange: data[1] } : data;
}

async function readScenarios(file: string): Promise<Scenario[]> {
  const text = await readFile(path.join(corporaDirectory, 'auth', file), 'utf8');
  const documents = parseAllDocuments(text, { uniqueKeys: false, logLevel: 'silent' });
  return Array.isArray(documents) ? documents.map((document) => document.toJS() as Scenario) : [];
}
