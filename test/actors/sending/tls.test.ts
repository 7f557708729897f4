import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openSession } from '../../../actors/sending/open-session.ts';
import { listAttempts, untilRecipients } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;

beforeAll(async () => {
  stage = await createStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const isDelivered = ([first]: { status: string }[]) => first?.status === 'delivered';
const LIMITS = { connectMs: 60_000, openingMs: 60_000, greetingMs: 60_000, envelopeMs: 60_000, messageMs: 60_000 };

test('TLS is used when it is offered, whatever the certificate, and sends the host name', async () => {
  const sink = await stage.startSink({ startTls: 'offered' });
  stage.publish('tls.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@tls.test'] });
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect(sink.messages[0]).toMatchObject({ isTls: true, connection: { serverName: 'mx1.tls.test' } });
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([{ is_tls: true }]);
});

test('a message whose TLS fails is sent again without TLS, over a new connection', async () => {
  const sink = await stage.startSink({ startTls: 'broken' });
  stage.publish('broken-tls.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@broken-tls.test'] });
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect(sink.connections).toHaveLength(2);
  expect(sink.connections[0]?.transcript).toContain('C: STARTTLS');
  expect(sink.connections[1]?.transcript).not.toContain('C: STARTTLS');
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([{ is_tls: false, outcome: 'delivered' }]);
});

test('the session continues without TLS when STARTTLS is refused', async () => {
  const sink = await stage.startSink({ startTls: 'refused' });
  stage.publish('refused-tls.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@refused-tls.test'] });
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect(sink.connections).toHaveLength(1);
  expect(sink.messages[0]?.isTls).toBe(false);
});

/** A route that must have TLS, as a relay elsewhere has that wants credentials. */
function guardedRoute(port: number, tls: 'required' | 'immediate', isCertificateVerified: boolean) {
  const hosts = [{ name: 'relay.test', addresses: ['127.0.0.1'] }];
  return { hosts, port, tls, isCertificateVerified, credentials: { user: 'ann', pass: 'secret-word' } };
}

test.each(['absent', 'refused', 'broken'] as const)(
  'credentials are never sent when STARTTLS is %s',
  async (startTls) => {
    const sink = await stage.startSink({ startTls, auth: { user: 'ann', pass: 'secret-word' } });
    const opened = await openSession(
      { ehloName: 'out.test', limits: LIMITS, secureContext: null },
      guardedRoute(sink.port, 'required', false),
      new AbortController().signal,
    );
    expect('failure' in opened && opened.failure.outcome).toBe('deferred');
    expect(sink.connections.every(({ transcript }) => !transcript.some((line) => line.startsWith('C: AUTH')))).toBe(
      true,
    );
    expect(sink.connections).toHaveLength(1);
  },
);

test.each(['required', 'immediate'] as const)(
  'credentials are not sent to a server with an invalid certificate (%s)',
  async (tls) => {
    const sink = await stage.startSink({
      ...(tls === 'immediate' ? { isTlsFromStart: true } : { startTls: 'offered' }),
      auth: { user: 'ann', pass: 'secret-word' },
    });
    const opened = await openSession(
      { ehloName: 'out.test', limits: LIMITS, secureContext: null },
      guardedRoute(sink.port, tls, true),
      new AbortController().signal,
    );
    expect('failure' in opened && opened.failure).toMatchObject({
      outcome: 'deferred',
      status: '4.7.5',
      text: 'TLS failed: the certificate or handshake failed (DEPTH_ZERO_SELF_SIGNED_CERT)',
    });
    expect(sink.connections.some(({ user }) => user !== null)).toBe(false);
  },
);
