import { expect, test } from 'vitest';
import { deriveListenerSecrets, toPosting } from '../../../core/endpoints/listener.ts';

const RELEASED = new Date('2026-11-26T12:00:00Z');

test.each([
  ['email.received', null, null, false, 'later'],
  ['email.received', 'asking', null, false, 'later'],
  ['email.received', 'delivered', null, false, 'now'],
  ['email.received', 'review', null, false, 'never'],
  ['email.received', 'blocked', null, false, 'never'],
  // Its release is posted instead.
  ['email.received', 'delivered', RELEASED, false, 'never'],
  ['email.released', 'delivered', RELEASED, false, 'now'],
  ['email.released', 'blocked', RELEASED, false, 'now'],
  // Imported mail that is not to be routed.
  ['email.received', 'delivered', null, true, 'never'],
  ['email.received', null, null, true, 'never'],
  ['email.released', 'delivered', RELEASED, true, 'never'],
] as const)(
  'posts %s of mail with outcome %s, released %s, imported without routes %s: %s',
  (kind, outcome, releasedAt, isQuiet, expected) => {
    expect(toPosting(kind, { outcome, releasedAt, isQuiet, ofAll: null })).toBe(expected);
  },
);

test.each([
  // Its delivery is still to be created.
  ['email.received', 'delivered', 'waiting', 'later'],
  ['email.received', null, 'created', 'later'],
  ['email.received', 'delivered', 'created', 'now'],
  ['email.received', 'blocked', 'created', 'now'],
  ['email.received', 'stored', 'none', 'never'],
  ['email.released', 'delivered', 'created', 'never'],
] as const)(
  '%s of mail with outcome %s, for an endpoint that gets all mail, delivery %s: %s',
  (kind, outcome, ofAll, is) => {
    expect(toPosting(kind, { outcome, releasedAt: null, isQuiet: false, ofAll })).toBe(is);
  },
);

test('the secrets of a listener stay the same, and differ by user, key and use', () => {
  const secretKey = Buffer.alloc(32, 7);
  const caller = { workspaceId: 'usr_1', keyId: 'key_1' };
  const secrets = deriveListenerSecrets(secretKey, caller);
  expect(deriveListenerSecrets(secretKey, { ...caller })).toEqual(secrets);
  const others = [
    deriveListenerSecrets(secretKey, { ...caller, workspaceId: 'usr_2' }),
    deriveListenerSecrets(secretKey, { ...caller, keyId: null }),
    deriveListenerSecrets(Buffer.alloc(32, 8), caller),
  ].flatMap(({ signingSecret, verificationToken }) => [signingSecret, verificationToken]);
  expect(new Set([secrets.signingSecret, secrets.verificationToken, ...others]).size).toBe(8);
  expect(secrets.signingSecret).toMatch(/^whsec_/);
  expect(secrets.verificationToken).toMatch(/^[0-9a-f]{64}$/);
});
