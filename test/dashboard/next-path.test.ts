import { expect, test } from 'vitest';
import { nextPath } from '../../gateway/dashboard/pages/sign-in/next-path.ts';

const ORIGIN = 'https://mail.example.com';
const after = (next: string) => nextPath(`?next=${encodeURIComponent(next)}`, ORIGIN);

test('signing in leads to pages of ours', () => {
  expect(after('/inbox?label=a#b')).toBe('/inbox?label=a#b');
});

test.each([
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example/',
  // The origin is ours; the path alone would be another host.
  `${ORIGIN}//evil.example/`,
  '/.//evil.example/',
  '/x/..//evil.example/',
  'javascript:alert(1)',
  '/api/e2/emails',
])('%s is not a page of ours', (next) => {
  expect(after(next)).toBe('/');
});
