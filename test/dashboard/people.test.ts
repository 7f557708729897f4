import { expect, test } from 'vitest';
import { makeInitials, showName } from '../../gateway/dashboard/pages/inbox/people.ts';

test.each([
  ['Maya Okafor', 'MO'],
  ['Maria de la Cruz', 'MC'],
  ['🎉 Party Shop', 'PS'],
  ['"Ann" (Sales)', 'AS'],
  ['Émile', 'É'],
  ['山田 太郎', '山太'],
  ['', 'B'],
  ['👩‍🚀', '👩‍🚀'],
])('the initials of %j are %s', (name, initials) => {
  expect(makeInitials({ name, address: 'build.server@sender.test' })).toBe(initials);
});

test('a sender without name and address is called unknown', () => {
  expect(showName({ name: null, address: '' })).toBe('Unknown sender');
  expect(showName({ name: ' ', address: 'ann@sender.test' })).toBe('ann@sender.test');
});
