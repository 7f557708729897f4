import { expect, test } from 'vitest';
import { readAsFrozen, readFrozenMessages } from './frozen/frozen-mail.ts';

// Whole messages, written and committed before anyone looked at what the product made of them. Of a third, by a hash of its title, none
// was looked at since.
test.each([
  // At first 34 and 25, 12 and 6, 30 and 13, 21 and 11.
  // Exim's `einen solchen Nutzer kennt sie aber nicht` was lost when sentences that suppressed valid recipients were cured.
  ['first', 'bounces', false, 37, 38],
  ['first', 'bounces', true, 25, 25],
  ['first', 'automatic', false, 13, 13],
  ['first', 'automatic', true, 8, 8],
  ['first', 'replies', false, 32, 32],
  ['first', 'replies', true, 13, 15],
  ['first', 'codes', false, 23, 23],
  ['first', 'codes', true, 11, 12],
  ['first', 'invitations', false, 4, 4],
  ['first', 'invitations', true, 4, 4],
  ['first', 'odd', false, 15, 15],
  ['first', 'odd', true, 4, 4],
  // Two replies expected no quotation between a greeting and the answer to it, which stays (reply-text.test.ts).
  // At first 41 and 21, 23 and 5, 44 and 23, 21 and 19; the others as now.
  ['second', 'bounces', false, 43, 43],
  ['second', 'bounces', true, 21, 22],
  ['second', 'automatic', false, 23, 23],
  ['second', 'automatic', true, 5, 7],
  ['second', 'answers', false, 11, 11],
  ['second', 'answers', true, 8, 8],
  ['second', 'replies', false, 45, 46],
  ['second', 'replies', true, 23, 24],
  ['second', 'codes', false, 21, 21],
  ['second', 'codes', true, 19, 20],
  ['second', 'odd', false, 14, 14],
  ['second', 'odd', true, 10, 10],
  // At first 28 and 10, 8 and 5, 39 and 19, 19 and 8; the others as now.
  ['third', 'bounces', false, 29, 30],
  ['third', 'bounces', true, 10, 13],
  ['third', 'automatic', false, 14, 14],
  ['third', 'automatic', true, 5, 8],
  ['third', 'answers', false, 9, 9],
  ['third', 'answers', true, 3, 3],
  ['third', 'replies', false, 42, 43],
  ['third', 'replies', true, 19, 20],
  ['third', 'codes', false, 22, 23],
  ['third', 'codes', true, 8, 9],
  // At first 10, 7 and 7 of those that were looked at.
  ['fourth', 'automatic', false, 12, 12],
  ['fourth', 'automatic', true, 0, 14],
  ['fourth', 'replies', false, 8, 8],
  ['fourth', 'replies', true, 0, 5],
  ['fourth', 'codes', false, 9, 9],
  ['fourth', 'codes', true, 0, 1],
] as const)(
  'of the %s frozen %s (kept aside: %s), %i of %i are read as they are meant',
  async (set, kind, isHeld, least, count) => {
    const messages = readFrozenMessages(set, kind).filter((each) => each.isHeld === isHeld);
    const wrong: string[] = [];
    for (const message of messages) {
      const read = await readAsFrozen(kind, message);
      if (read !== message.expected) wrong.push(isHeld ? 'kept aside' : `${message.name}: ${read}`);
    }
    expect(messages).toHaveLength(count);
    expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(count - least);
  },
);
