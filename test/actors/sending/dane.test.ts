import { createHash, X509Certificate } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { SinkOptions } from '../../support/servers/sink-mta.ts';
import { listAttempts, untilRecipients, untilTried } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;
let domain: string;
let domains = 0;

beforeAll(async () => {
  stage = await createStage();
});
beforeEach(() => {
  domain = `dane${++domains}.test`;
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const isDelivered = ([first]: { status: string }[]) => first?.status === 'delivered';

/** Starts the domain's server and an actor that trusts the stage's DNS server to validate. */
async function startDomain(options: SinkOptions = {}, isSigned = true) {
  const sink = await stage.startSink({ startTls: 'offered', name: 'unrelated.test', ...options });
  stage.publish(domain, '127.0.0.1');
  if (isSigned) stage.dns.secure.add(domain);
  await stage.start({ port: sink.port, validatingResolvers: [stage.dns.address] });
  const publish = (usage: number, data: Buffer, selector = 1, matchingType = 1) => {
    const records = [{ usage, selector, matchingType, certificate: data }];
    stage.dns.set(`_${sink.port}._tcp.mx1.${domain}`, 'TLSA', records);
  };
  return { sink, publish };
}

function keyDigest(certificate: string | null): Buffer {
  const key = new X509Certificate(certificate ?? '').publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(key).digest();
}

const OTHER_DIGEST = Buffer.alloc(32, 7);

async function attempted() {
  const emailId = await stage.send({ to: [`ann@${domain}`] });
  await untilTried(stage.owner, emailId);
  return { emailId, attempts: await listAttempts(stage.owner, emailId) };
}

test('DANE-EE: mail goes to the server whose key matches, whatever name its certificate has', async () => {
  const { sink, publish } = await startDomain();
  publish(3, keyDigest(sink.certificate));
  const { emailId, attempts } = await attempted();
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect(attempts).toMatchObject([{ outcome: 'delivered', is_tls: true }]);
});

test('mail waits when the key of the server does not match', async () => {
  const { sink, publish } = await startDomain();
  publish(3, OTHER_DIGEST);
  const { attempts } = await attempted();
  expect(attempts).toMatchObject([
    {
      outcome: 'deferred',
      enhanced_status: '4.7.5',
      text: `TLS failed: the certificate does not match. The DANE records of mx1.${domain} require TLS with a certificate that matches them`,
    },
  ]);
  expect(sink.transactions).toEqual([]);
});

test('mail waits when a server with TLSA records offers no TLS', async () => {
  const { sink, publish } = await startDomain({ startTls: 'absent' });
  publish(3, OTHER_DIGEST);
  const { attempts } = await attempted();
  expect(attempts).toMatchObject([{ outcome: 'deferred', enhanced_status: '4.7.5' }]);
  expect(sink.transactions).toEqual([]);
});

test('unusable records require TLS, and accept any certificate', async () => {
  const { publish } = await startDomain();
  publish(1, OTHER_DIGEST);
  expect((await attempted()).attempts).toMatchObject([{ outcome: 'delivered', is_tls: true }]);
});

test('records of an unsigned zone are ignored', async () => {
  const { publish } = await startDomain({ startTls: 'absent' }, false);
  publish(3, OTHER_DIGEST);
  expect((await attempted()).attempts).toMatchObject([{ outcome: 'delivered', is_tls: false }]);
});

test.each(['SERVFAIL', 'garbage'] as const)('mail waits when the TLSA query gets %s', async (response) => {
  const { sink } = await startDomain();
  stage.dns.set(`_${sink.port}._tcp.mx1.${domain}`, 'TLSA', response);
  const { attempts } = await attempted();
  expect(attempts).toMatchObject([
    {
      outcome: 'deferred',
      enhanced_status: '4.4.3',
      text: `The mail servers of ${domain} could not be looked up with DNSSEC validation`,
    },
  ]);
  expect(sink.connections).toEqual([]);
});

test('a signed domain without TLSA records gets mail as usual', async () => {
  await startDomain({ startTls: 'absent' });
  expect((await attempted()).attempts).toMatchObject([{ outcome: 'delivered', is_tls: false }]);
});

test('without validating resolvers, TLSA records are not looked up', async () => {
  const sink = await stage.startSink();
  stage.publish(domain, '127.0.0.1');
  stage.dns.secure.add(domain);
  await stage.start({ port: sink.port });
  stage.dns.queries.length = 0;
  expect((await attempted()).attempts).toMatchObject([{ outcome: 'delivered' }]);
  expect(stage.dns.queries.filter((query) => query.startsWith('TLSA'))).toEqual([]);
});

test('a reply too long for one datagram is read over TCP', async () => {
  const { sink } = await startDomain();
  const others = Array.from({ length: 40 }, (_, n) => ({
    usage: 3,
    selector: 1,
    matchingType: 1,
    certificate: Buffer.alloc(32, n),
  }));
  const own = { usage: 3, selector: 1, matchingType: 1, certificate: keyDigest(sink.certificate) };
  stage.dns.set(`_${sink.port}._tcp.mx1.${domain}`, 'TLSA', [...others, own]);
  expect((await attempted()).attempts).toMatchObject([{ outcome: 'delivered', is_tls: true }]);
  expect(stage.dns.queries.filter((query) => query.startsWith('TLSA'))).toHaveLength(2);
});
