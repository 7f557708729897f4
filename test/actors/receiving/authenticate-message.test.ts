import { generateKeyPairSync } from 'node:crypto';
import { dkimSign, sealMessage } from 'mailauth';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDnsResolver, type DnsResolver } from '../../../actors/network/dns-resolver.ts';
import { authenticateMessage } from '../../../actors/receiving/authenticate-message.ts';
import type { Authentication } from '../../../core/mime/authentication.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { senderVerdict } from '../../../core/mime/sender-verdict.ts';
import { seededRandom } from '../../support/rows/thread-mail.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns.ts';

const key = generateKeyPairSync('rsa', { modulusLength: 2048 });
const publicKey = key.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
const privateKey = key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const GOOD_ADDRESS = '192.0.2.1';
const BAD_ADDRESS = '198.51.100.9';

let dns: DnsServer;
let resolver: DnsResolver;

beforeAll(async () => {
  dns = await startDnsServer();
});
beforeEach(() => {
  dns.clear();
  dns.set('x.test', 'TXT', [`v=spf1 ip4:${GOOD_ADDRESS} -all`]);
  dns.set('s1._domainkey.x.test', 'TXT', [`v=DKIM1; k=rsa; p=${publicKey}`]);
  dns.set('_dmarc.x.test', 'TXT', ['v=DMARC1; p=reject']);
  resolver = createDnsResolver({ servers: [dns.address] });
});
afterAll(() => dns.stop());

async function signed(options: { from?: string; domain?: string } = {}): Promise<string> {
  const { from = 'joe@x.test', domain = 'x.test' } = options;
  const transport = createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'windows',
    dkim: { domainName: domain, keySelector: 's1', privateKey },
  });
  const { message } = await transport.sendMail({
    from,
    to: 'ann@y.test',
    subject: 'Signed',
    text: 'Hello Ann\n'.repeat(400),
  });
  return Buffer.isBuffer(message) ? message.toString('latin1') : expect.fail('not composed');
}

async function check(
  raw: string,
  facts: Partial<Parameters<typeof authenticateMessage>[2]> = {},
): Promise<Authentication> {
  const bytes = Buffer.from(raw, 'latin1');
  const sender = { remoteAddress: GOOD_ADDRESS, helo: 'mx.x.test', reversePath: 'joe@x.test', ...facts };
  return authenticateMessage(bytes, await parseMessage(bytes), sender, resolver);
}

const plain = (from = 'From: joe@x.test\r\n', more = '') =>
  `${from}${more}To: ann@y.test\r\nSubject: a\r\n\r\nHello\r\n`;

test('a signed message from the right address passes every check', async () => {
  expect(await check(await signed())).toEqual({
    spf: { result: 'pass', domain: 'x.test' },
    dkim: [{ result: 'pass', domain: 'x.test', selector: 's1' }],
    dmarc: { result: 'pass', policy: 'reject', domain: 'x.test' },
    arc: { result: 'none' },
    hasSeveralFromFields: false,
  });
});

describe('DKIM', () => {
  test('fails when the body was changed, and DMARC with it', async () => {
    const verdict = await check((await signed()).replace('Hello Ann', 'Hello Bob'), { remoteAddress: BAD_ADDRESS });
    expect(verdict.dkim[0]?.result).not.toBe('pass');
    expect([verdict.spf.result, verdict.dmarc.result]).toEqual(['fail', 'fail']);
  });

  test('fails when a signed field was changed', async () => {
    const verdict = await check((await signed()).replace('Subject: Signed', 'Subject: Forged'));
    expect(verdict.dkim[0]?.result).toBe('fail');
  });

  test('passes when the message was forwarded, which is enough for DMARC', async () => {
    const verdict = await check(await signed(), { remoteAddress: BAD_ADDRESS });
    expect([verdict.spf.result, verdict.dkim[0]?.result, verdict.dmarc.result]).toEqual(['fail', 'pass', 'pass']);
  });

  test('passes for another domain, but DMARC does not', async () => {
    dns.set('s1._domainkey.other.test', 'TXT', [`v=DKIM1; k=rsa; p=${publicKey}`]);
    const verdict = await check(await signed({ domain: 'other.test' }), { remoteAddress: BAD_ADDRESS });
    expect([verdict.dkim[0]?.result, verdict.dkim[0]?.domain, verdict.dmarc.result]).toEqual([
      'pass',
      'other.test',
      'fail',
    ]);
  });

  test('does not pass without its key', async () => {
    dns.set('s1._domainkey.x.test', 'TXT', 'NXDOMAIN');
    expect((await check(await signed())).dkim[0]?.result).not.toBe('pass');
  });

  test('is a temperror when its key cannot be looked up', async () => {
    dns.set('s1._domainkey.x.test', 'TXT', 'SERVFAIL');
    expect((await check(await signed())).dkim[0]?.result).toBe('temperror');
  });

  test('is not checked in a flood of signatures', async () => {
    const message = await signed();
    const field = /^DKIM-Signature:[^]*?\r\n(?=\S)/m.exec(message)?.[0] ?? '';
    const before = dns.queries.length;
    const verdict = await check(field.repeat(200) + message);
    expect(verdict).toMatchObject({ spf: { result: 'temperror' }, dkim: [] });
    expect(dns.queries.length).toBe(before);
  });
});

describe('a signed message that a relay adds to', () => {
  const HEAD = 'From: joe@x.test\r\nTo: ann@y.test\r\nSubject: Lunch\r\nDate: Mon, 30 Nov 2026 10:00:00 +0000\r\n';
  const TEXT = 'See you at noon.\r\n';
  const PLAIN = `${HEAD}Content-Type: text/plain\r\n\r\n${TEXT}`;
  const PARTS = `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n${TEXT}--b--\r\n`;
  const ADDED = 'Send the money to this account today.\r\n';

  async function sign(raw: string, maxBodyLength?: number): Promise<string> {
    const signature = { signingDomain: 'x.test', selector: 's1', privateKey, algorithm: 'rsa-sha256' };
    const limit = maxBodyLength === undefined ? {} : { maxBodyLength };
    const { signatures } = await dkimSign(Buffer.from(raw, 'latin1'), {
      ...signature,
      signatureData: [{ ...signature, ...limit }],
      headerList: 'from:to:subject:date:content-type',
    });
    return signatures + raw;
  }

  async function judge(raw: string): Promise<[verdict: string, dkim: string | undefined, dmarc: string]> {
    const found = await check(raw, { remoteAddress: BAD_ADDRESS });
    return [senderVerdict(found, (name) => name).verdict, found.dkim[0]?.result, found.dmarc.result];
  }

  const insert = (raw: string, lines: string) => raw.replace('\r\n\r\n', `\r\nX-Relay: a\r\n${lines}\r\n`);

  test.each<[name: string, original: string, add: (raw: string) => string]>([
    ['text below its fields', PLAIN, (raw) => insert(raw, ADDED)],
    ['text below a line of blanks', PLAIN, (raw) => insert(raw, ` \r\n${ADDED}`)],
    ['text below a line of carriage returns', PLAIN, (raw) => insert(raw, `\r\r\n${ADDED}`)],
    ['text to an empty one', PLAIN.slice(0, -TEXT.length), (raw) => insert(raw, ADDED)],
    [
      'text to one without an empty line',
      PLAIN.slice(0, -TEXT.length),
      (raw) => `${raw.slice(0, -2)}X-Relay: a\r\n${ADDED}`,
    ],
    ['a part above its parts', PARTS, (raw) => insert(raw, `--b\r\nX-Part: a\r\n${ADDED}`)],
    ['a subject', PLAIN, (raw) => `Subject: Pay today\r\n${raw}`],
    ['a recipient', PLAIN, (raw) => `To: bob@y.test\r\n${raw}`],
    ['a date', PLAIN, (raw) => `Date: Mon, 30 Nov 2020 10:00:00 +0000\r\n${raw}`],
    ['a content type', PARTS, (raw) => `Content-Type: text/plain\r\n${raw}`],
  ])('is not verified with %s', async (_name, original, add) => {
    const raw = await sign(original);
    expect(await judge(raw)).toEqual(['verified', 'pass', 'pass']);
    const [verdict, dkim, dmarc] = await judge(add(raw));
    expect([verdict, dkim === 'pass', dmarc]).toEqual(['failed', false, 'fail']);
  });

  test('is not verified with text behind what the signature covers', async () => {
    const raw = await sign(PLAIN, TEXT.length);
    expect(await judge(raw)).toEqual(['verified', 'pass', 'pass']);
    expect(await judge(raw + ADDED)).toEqual(['failed', 'policy', 'fail']);
  });

  test.each<[name: string, add: (raw: string) => string]>([
    ['fields of its own', (raw) => `Received: from a by b\r\nX-Relay: a\r\n${raw}`],
    ['the same subject again, folded', (raw) => `Subject:\r\n Lunch\r\n${raw}`],
  ])('is verified with %s', async (_name, add) => {
    expect(await judge(add(await sign(PLAIN)))).toEqual(['verified', 'pass', 'pass']);
  });

  test('is not vouched for by the server that sealed it before', async () => {
    const seal = { signingDomain: 'x.test', selector: 's1', privateKey, algorithm: 'rsa-sha256' };
    const fields = await sealMessage(Buffer.from(PLAIN), {
      ...seal,
      authResults: 'x.test; dmarc=pass header.from=x.test',
      cv: 'none',
    });
    const raw = `${fields.toString('latin1')}${PLAIN}`;
    expect((await check(raw)).arc).toEqual({ result: 'pass', domain: 'x.test' });
    for (const changed of [insert(raw, ADDED), `Subject: Pay today\r\n${raw}`])
      expect((await check(changed)).arc.result).toBe('fail');
  });

  test('is verified by the address of its server as it is', async () => {
    const found = await check(insert(await sign(PLAIN), ADDED));
    expect(senderVerdict(found, (name) => name)).toMatchObject({ verdict: 'verified', domain: 'x.test' });
    expect([found.dkim[0]?.result, found.dmarc.result]).toEqual(['policy', 'pass']);
  });
});

describe('SPF', () => {
  test.each([
    [`v=spf1 ip4:${GOOD_ADDRESS} -all`, GOOD_ADDRESS, 'pass'],
    [`v=spf1 ip4:${GOOD_ADDRESS} -all`, BAD_ADDRESS, 'fail'],
    ['v=spf1 ~all', BAD_ADDRESS, 'softfail'],
    ['v=spf1 ?all', BAD_ADDRESS, 'neutral'],
    ['v=spf1 ip6:2001:db8::/32 -all', '2001:db8::1', 'pass'],
    ['v=spf1 ip4:not-an-address -all', GOOD_ADDRESS, 'permerror'],
    ['no policy', GOOD_ADDRESS, 'none'],
  ])('of %j seen from %s is %s', async (record, remoteAddress, result) => {
    dns.set('x.test', 'TXT', [record]);
    expect((await check(plain(), { remoteAddress })).spf).toEqual({ result, domain: 'x.test' });
  });

  test('of a null reverse-path is that of the HELO name, whatever Return-Path the message claims', async () => {
    dns.set('mx.helo.test', 'TXT', ['v=spf1 -all']);
    const verdict = await check(plain(undefined, 'Return-Path: <joe@x.test>\r\n'), {
      reversePath: '',
      helo: 'mx.helo.test',
    });
    expect(verdict.spf).toEqual({ result: 'fail', domain: 'mx.helo.test' });
  });

  test('follows includes and mail exchangers', async () => {
    dns.set('x.test', 'TXT', ['v=spf1 include:inc.test -all']);
    dns.set('inc.test', 'TXT', ['v=spf1 mx -all']);
    dns.set('inc.test', 'MX', [{ preference: 10, exchange: 'mail.inc.test' }]);
    dns.set('mail.inc.test', 'A', [GOOD_ADDRESS]);
    expect((await check(plain())).spf.result).toBe('pass');
  });
});

describe('DMARC', () => {
  test.each(['none', 'quarantine', 'reject'] as const)('reports the policy %s of the domain', async (policy) => {
    dns.set('_dmarc.x.test', 'TXT', [`v=DMARC1; p=${policy}`]);
    expect((await check(plain(), { remoteAddress: BAD_ADDRESS })).dmarc).toEqual({
      result: 'fail',
      policy,
      domain: 'x.test',
    });
  });

  test('is none where no policy is published', async () => {
    dns.set('_dmarc.x.test', 'TXT', 'NXDOMAIN');
    expect((await check(plain())).dmarc).toMatchObject({ result: 'none', policy: null });
  });

  test('fails for a From that SPF says nothing about', async () => {
    dns.set('_dmarc.bank.test', 'TXT', ['v=DMARC1; p=reject']);
    expect((await check(plain('From: ceo@bank.test\r\n'))).dmarc).toEqual({
      result: 'fail',
      policy: 'reject',
      domain: 'bank.test',
    });
  });
});

describe('a message is not trusted when it', () => {
  test('contains verdicts of its own', async () => {
    const claim = 'Authentication-Results: mx.y.test; spf=pass; dkim=pass; dmarc=pass\r\nReceived-SPF: pass\r\n';
    const raw = plain('From: ceo@x.test\r\n', claim);
    const verdict = await check(raw, { remoteAddress: BAD_ADDRESS });
    expect([verdict.spf.result, verdict.dkim, verdict.dmarc.result]).toEqual(['fail', [], 'fail']);
    const { headers } = await parseMessage(Buffer.from(raw));
    expect(headers.map(([name]) => name)).not.toContain('authentication-results');
  });

  test('has two From fields: it is flagged, and DMARC does not pass', async () => {
    const verdict = await check(plain('From: joe@x.test\r\nFrom: ceo@bank.test\r\n'));
    expect(verdict.hasSeveralFromFields).toBe(true);
    expect(verdict.dmarc.result).not.toBe('pass');
  });

  test.each([
    'From: joe@x.test, ceo@bank.test\r\n',
    'From: Group: joe@x.test, ceo@bank.test;\r\n',
    'From: nobody\r\n',
    '',
  ])('has no single author: %j', async (from) => {
    const verdict = await check(plain(from));
    expect(verdict.dmarc.result).not.toBe('pass');
    expect(verdict.hasSeveralFromFields).toBe(false);
  });
});

describe('a From field that programs read differently', () => {
  /** Returns the author that is shown, and the domain that verifies the message; null when none does. */
  async function read(from: string): Promise<{ author: string | undefined; verified: string | null }> {
    const raw = plain(`From: ${from}\r\n`);
    const { addresses } = await parseMessage(Buffer.from(raw, 'latin1'));
    const { verdict, domain } = senderVerdict(await check(raw), (name) => name);
    return { author: addresses.from?.addresses[0]?.address, verified: verdict === 'verified' ? domain : null };
  }

  test.each([
    'CEO <ceo@bank.test, x <joe@x.test>',
    'CEO <ceo@bank.test; x <joe@x.test>',
    '<ceo@bank.test, <joe@x.test>',
    '<ceo@bank.test;<joe@x.test>',
  ])('%s shows the author that is verified', async (from) => {
    expect(await read(from)).toEqual({ author: 'joe@x.test', verified: 'x.test' });
  });

  test.each([
    '"CEO <ceo@bank.test>, "x" <joe@x.test>',
    'martin, "x" <joe@x.test>, y',
    '"x" <<ceo@bank.test>joe@x.test>',
    'joe@x.test@bank.test"',
    'joe@x.test@',
  ])('%s is verified for its author or for no one', async (from) => expectSameAuthor(from, await read(from)));

  test('of 1,000 odd ones, those that are verified show an author of that domain', async () => {
    const random = seededRandom(31);
    const pick = () => ODD_PIECES[Math.floor(random() * ODD_PIECES.length)] ?? '';
    let verified = 0;
    for (let count = 0; count < 1_000; count++) {
      const from = Array.from({ length: 2 + Math.floor(random() * 7) }, pick).join('');
      const result = await read(from);
      expectSameAuthor(from, result);
      if (result.verified !== null) verified++;
    }
    expect(verified).toBeGreaterThan(50);
  }, 60_000);

  function expectSameAuthor(from: string, { author, verified }: Awaited<ReturnType<typeof read>>): void {
    if (verified !== null) expect(author?.toLowerCase().split('@').at(-1), JSON.stringify(from)).toBe(verified);
  }
});

/** What odd From fields are made of; the server may send mail of x.test, not of bank.test. */
const ODD_PIECES = [
  'ceo@bank.test|<ceo@bank.test|<ceo@bank.test>|"ceo@bank.test"|<mailto:ceo@bank.test>|@bank.test',
  'joe@x.test|<joe@x.test>|<joe@x.test>| <joe@x.test>|<joe@x.test|<mailto:joe@x.test>|@x.test',
  'CEO |x|martin|, |,|;|; |:| |\r\n |\t|<|>|<<|>>|"|\\"|\\|@',
  '(|)|[|]|=?utf-8?Q?CEO_=3Cceo=40bank.test=3E=2C?= |\xe9|\0|mailto:',
].flatMap((pieces) => pieces.split('|'));

describe('when DNS', () => {
  test('does not respond the verdict is temperror', async () => {
    for (const name of ['x.test', '_dmarc.x.test', 's1._domainkey.x.test']) dns.set(name, 'TXT', 'silent');
    const verdict = await check(await signed());
    expect([verdict.spf.result, verdict.dkim[0]?.result, verdict.dmarc.result]).toEqual([
      'temperror',
      'temperror',
      'temperror',
    ]);
  });

  test('is unreachable the verdict is temperror', async () => {
    resolver = createDnsResolver({ servers: ['127.0.0.1:1'] });
    expect(await check(plain())).toMatchObject({ spf: { result: 'temperror' }, dmarc: { result: 'temperror' } });
  });
});

test.each([
  '',
  '\r\n',
  'not a message',
  '\0\0\0',
  'DKIM-Signature: \r\nARC-Seal: x\r\nFrom: \r\n\r\n',
  'DKIM-Signature: v=1; a=rsa-sha256; d=; s=; b=; bh=\r\n\r\n',
])('%j gets some verdict', async (raw) => {
  const verdict = await check(raw, { helo: '', remoteAddress: 'unknown', reversePath: '"@\0' });
  expect(verdict.dmarc.result).not.toBe('pass');
  expect(JSON.stringify(verdict)).not.toContain('\\u0000');
});
