import { createPrivateKey } from 'node:crypto';
import { setImmediate as otherWork } from 'node:timers/promises';
import { authenticate } from 'mailauth';
import { expect, test } from 'vitest';
import type { Authentication, AuthenticationResult } from '../../../core/mime/authentication.ts';
import { arcResults, isUnsealed, sealArc, withoutArcResults } from '../../../core/sending/arc-seal.ts';
import { makeDkimSignature } from '../../../core/sending/dkim-signature.ts';
import { TEST_DKIM_PRIVATE_KEY, TEST_DKIM_PUBLIC_KEY, TEST_DKIM_SELECTOR } from '../../support/mail/dkim-test-key.ts';

const makeSigner = (domain: string) => ({
  domain,
  selector: TEST_DKIM_SELECTOR,
  privateKey: createPrivateKey(TEST_DKIM_PRIVATE_KEY),
});

const MESSAGE = Buffer.from(
  'Delivered-To: hello@one.test\r\nReceived: from a by b; now\r\nFrom: ann@origin.test\r\nTo: hello@one.test\r\nSubject: Hello  there\r\n\r\nBody\r\n',
);

function makeVerdicts(arc: AuthenticationResult): Authentication {
  return {
    spf: { result: 'pass', domain: 'origin.test' },
    dkim: [{ result: 'pass', domain: 'origin.test', selector: 's1' }],
    dmarc: { result: 'pass', policy: 'reject', domain: 'origin.test' },
    arc: { result: arc },
    hasSeveralFromFields: false,
  };
}

/** What another implementation says of the chain. */
async function readArc(message: Buffer) {
  const { arc } = await authenticate(message, {
    ip: '192.0.2.1',
    helo: 'x.test',
    sender: 'ann@origin.test',
    mta: 'mx.test',
    resolver: (name: string, type: string) =>
      type === 'TXT' && name.startsWith(`${TEST_DKIM_SELECTOR}._domainkey.`)
        ? Promise.resolve([[`v=DKIM1; k=rsa; p=${TEST_DKIM_PUBLIC_KEY}`]])
        : Promise.reject(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' })),
  });
  return arc === false ? null : arc.status;
}

/** Relays a message as the service does: verdicts first, then the DKIM signature and the rest of the set. */
async function relay(message: Buffer, domain: string, arrived: AuthenticationResult): Promise<Buffer> {
  const results = arcResults(message, makeVerdicts(arrived), `mx.${domain}`);
  const unsealed = Buffer.concat([Buffer.from(results), message]);
  const signature = await makeDkimSignature(unsealed, makeSigner(domain), otherWork);
  const seal = isUnsealed(unsealed) ? await sealArc(unsealed, makeSigner(domain), otherWork) : '';
  return Buffer.concat([Buffer.from(`${seal}${signature}`), unsealed]);
}

/** Our fields on top, as the next relay receives it. */
const received = (message: Buffer) => Buffer.concat([Buffer.from('Received: from c by d; then\r\n'), message]);

test('another implementation validates a sealed message, and the seal of a sealed message', async () => {
  const once = await relay(MESSAGE, 'one.test', 'none');
  expect(await readArc(once)).toMatchObject({ result: 'pass' });
  expect(once.toString()).toContain('ARC-Seal: i=1; a=rsa-sha256; cv=none;');
  const twice = await relay(received(once), 'two.test', 'pass');
  expect(twice.toString()).toContain('ARC-Seal: i=2; a=rsa-sha256; cv=pass;');
  expect(await readArc(twice)).toMatchObject({ result: 'pass' });
  const thrice = await relay(received(twice), 'three.test', 'pass');
  expect(await readArc(thrice)).toMatchObject({ result: 'pass' });
});

test('the results name every verified domain, and no text of another domain ends a property', async () => {
  const text = arcResults(MESSAGE, makeVerdicts('none'), 'mx.one.test');
  expect(text.replaceAll('\r\n', '')).toBe(
    'ARC-Authentication-Results: i=1; mx.one.test; spf=pass smtp.mailfrom=origin.test; dkim=pass header.d=origin.test header.s=s1; dmarc=pass header.from=origin.test; arc=none',
  );
  const hostile = { ...makeVerdicts('none'), spf: { result: 'pass' as const, domain: 'x; arc=pass\r\nA: b' } };
  expect(arcResults(MESSAGE, hostile, 'mx.one.test')).toContain(' spf=pass;\r\n');
});

test('a changed body fails, and the relayed chain says so', async () => {
  const once = await relay(MESSAGE, 'one.test', 'none');
  const changed = Buffer.from(once.toString().replace('Body', 'Other'));
  expect(await readArc(changed)).toMatchObject({ result: 'fail' });
  const relayed = await relay(received(changed), 'two.test', 'fail');
  expect(relayed.toString()).toContain('ARC-Seal: i=2; a=rsa-sha256; cv=fail;');
  expect(await readArc(relayed)).toMatchObject({ result: 'fail' });
});

test('a chain that ended, or was not verified, is not sealed', async () => {
  const failed = await relay(received(await relay(MESSAGE, 'one.test', 'none')), 'two.test', 'fail');
  expect(arcResults(failed, makeVerdicts('fail'), 'mx.three.test')).toBe('');
  expect(arcResults(MESSAGE, makeVerdicts('temperror'), 'mx.one.test')).toBe('');
});

test('without a key, our results are removed', () => {
  const results = arcResults(MESSAGE, makeVerdicts('none'), 'mx.one.test');
  expect(withoutArcResults(Buffer.concat([Buffer.from(results), MESSAGE])).equals(MESSAGE)).toBe(true);
  expect(isUnsealed(MESSAGE)).toBe(false);
});
