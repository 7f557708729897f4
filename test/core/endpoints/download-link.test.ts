import { expect, test } from 'vitest';
import {
  DOWNLOAD_LINK_LIFE_MS,
  deriveDownloadLinkKey,
  makeDownloadLink,
  readDownloadLink,
} from '../../../core/endpoints/download-link.ts';

const key = deriveDownloadLinkKey(Buffer.alloc(32, 7));
const target = { workspaceId: 'usr_1', emailId: 'em_1', part: 3, holder: 'key_1' } as const;
const madeAt = new Date('2026-11-20T12:00:00.900Z');
const expiresAt = new Date(madeAt.getTime() + DOWNLOAD_LINK_LIFE_MS);
const link = makeDownloadLink(key, target, expiresAt);
const query = (text: string) => Object.fromEntries(new URLSearchParams(text.split('?')[1])) as Record<string, string>;
const given = {
  user: query(link)['user'],
  for: 'key_1',
  expires: query(link)['expires'],
  signature: query(link)['signature'],
};

test('a link is the URL of the part with user, holder, expiry and signature, and equal facts give the same link', () => {
  expect(link).toMatch(
    /^\/api\/e2\/attachments\/em_1\/parts\/3\?user=usr_1&for=key_1&expires=1795780800&signature=[\w-]{43}$/,
  );
  expect(makeDownloadLink(key, target, expiresAt)).toBe(link);
  expect(makeDownloadLink(key, { ...target, part: 'raw' }, expiresAt)).toMatch(/^\/api\/e2\/emails\/em_1\/raw\?/);
});

const HOLDER = { workspaceId: 'usr_1', holder: 'key_1' };

test('a link authenticates its holder until it expires', () => {
  expect(readDownloadLink(key, target, given, madeAt)).toEqual(HOLDER);
  expect(readDownloadLink(key, target, given, new Date('2026-11-27T11:59:59.999Z'))).toEqual(HOLDER);
  expect(readDownloadLink(key, target, given, new Date('2026-11-27T12:00:00Z'))).toBeNull();
});

test.each<[string, { emailId: string; part: number | 'raw' }, Record<string, unknown>]>([
  ['another part', { emailId: 'em_1', part: 4 }, {}],
  ['the whole message', { emailId: 'em_1', part: 'raw' }, {}],
  ['another email', { emailId: 'em_2', part: 3 }, {}],
  ['another user', target, { user: 'usr_2' }],
  ['another holder', target, { for: 'key_2' }],
  ['no holder', target, { for: undefined }],
  ['a later end', target, { expires: '1795780801' }],
  ['an end in other digits', target, { expires: '01795780800' }],
  ['an end that is no number', target, { expires: '1e12' }],
  ['no signature', target, { signature: undefined }],
  ['two signatures', target, { signature: [given.signature, given.signature] }],
  ['a short signature', target, { signature: 'abc' }],
  ['a signature with padding', target, { signature: `${given.signature}=` }],
  ['a signature of other bytes', target, { signature: 'é'.repeat(43) }],
])('a link is invalid for %s', (_, wanted, changed) => {
  expect(readDownloadLink(key, wanted, { ...given, ...changed }, madeAt)).toBeNull();
});

test('a value cannot be moved to another field', () => {
  for (const [workspaceId, emailId] of [
    ['usr_1e', 'm_1'],
    ['usr_1","em_1', ''],
    ['usr_1,', 'em_1'],
  ] as const)
    expect(
      query(makeDownloadLink(key, { workspaceId, emailId, part: 3, holder: 'key_1' }, expiresAt))['signature'],
    ).not.toBe(given.signature);
});

test('a link is signed with a key for this purpose only', () => {
  const other = deriveDownloadLinkKey(Buffer.alloc(32, 8));
  expect(readDownloadLink(other, target, given, madeAt)).toBeNull();
  expect(readDownloadLink(Buffer.alloc(32, 7), target, given, madeAt)).toBeNull();
  expect(() => deriveDownloadLinkKey(Buffer.alloc(31))).toThrow(RangeError);
});
