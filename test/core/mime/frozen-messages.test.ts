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
  // Two replies expected no quotation between a greeting and the reply to it, which stays (reply-text.test.ts).
  // At first 41 and 21, 23 and 5, 44 and 23, 21 and 19; the others as now.
  ['second', 'bounces', false, 43, 43],
  ['second', 'bounces', true, 21, 22],
  ['second', 'automatic', false, 23, 23],
  ['second', 'automatic', true, 6, 7],
  ['second', 'answers', false, 11, 11],
  ['second', 'answers', true, 8, 8],
  ['second', 'replies', false, 45, 46],
  ['second', 'replies', true, 23, 24],
  ['second', 'codes', false, 21, 21],
  ['second', 'codes', true, 20, 20],
  ['second', 'odd', false, 14, 14],
  ['second', 'odd', true, 10, 10],
  // At first 28 and 10, 8 and 5, 39 and 19, 19 and 8; the others as now. A group that `may not exist, or you may not have permission` is soft,
  // and a word of capitals alone on a line may be a button.
  ['third', 'bounces', false, 29, 30],
  ['third', 'bounces', true, 11, 13],
  ['third', 'automatic', false, 14, 14],
  ['third', 'automatic', true, 7, 8],
  ['third', 'answers', false, 9, 9],
  ['third', 'answers', true, 3, 3],
  ['third', 'replies', false, 42, 43],
  ['third', 'replies', true, 19, 20],
  ['third', 'codes', false, 22, 23],
  ['third', 'codes', true, 8, 9],
  // Near to what was cured after the third set, and look-alikes of it. Before, 6 and 2, 5 and 1, 4 and 0.
  ['fourth', 'automatic', false, 12, 12],
  ['fourth', 'automatic', true, 14, 14],
  ['fourth', 'replies', false, 8, 8],
  ['fourth', 'replies', true, 4, 5],
  ['fourth', 'codes', false, 9, 9],
  ['fourth', 'codes', true, 1, 1],
  // At first 11 and 4, 3 and 3, 10 and 5, 6 and 3. `Not delivering to previously bounced address` says nothing of the receiver, and stays soft.
  ['fifth', 'bounces', false, 12, 13],
  ['fifth', 'bounces', true, 4, 4],
  ['fifth', 'automatic', false, 4, 4],
  ['fifth', 'automatic', true, 4, 4],
  ['fifth', 'replies', false, 10, 10],
  ['fifth', 'replies', true, 5, 5],
  ['fifth', 'codes', false, 7, 7],
  ['fifth', 'codes', true, 3, 4],
  // At first 29 and 14, 7 and 7, 108 and 48, 22 and 16, 9, 23 and 13. A quotation of whose lines only the fields have `>` is kept.
  ['sixth', 'automatic', false, 41, 41],
  ['sixth', 'automatic', true, 21, 21],
  ['sixth', 'answers', false, 7, 7],
  ['sixth', 'answers', true, 7, 7],
  ['sixth', 'replies', false, 114, 115],
  ['sixth', 'replies', true, 49, 50],
  ['sixth', 'codes', false, 32, 32],
  ['sixth', 'codes', true, 19, 22],
  ['sixth', 'invitations', false, 9, 9],
  ['sixth', 'odd', false, 23, 23],
  ['sixth', 'odd', true, 13, 13],
  // Written after the cures for the sixth, of other languages and kinds. At first 12 and 14, 14 and 9, 15 and 3. A log with `code` before two
  // numbers has codes.
  ['seventh', 'automatic', false, 18, 18],
  ['seventh', 'automatic', true, 14, 16],
  ['seventh', 'replies', false, 16, 16],
  ['seventh', 'replies', true, 9, 9],
  ['seventh', 'codes', false, 20, 21],
  ['seventh', 'codes', true, 5, 6],
  // And after those for the seventh. At first 13 and 6, 23 and 7; 12 and 2, 1 and 3, 13 and 13, 19 and 8.
  ['eighth', 'automatic', false, 19, 19],
  ['eighth', 'automatic', true, 9, 9],
  ['eighth', 'codes', false, 23, 23],
  ['eighth', 'codes', true, 7, 9],
  ['ninth', 'replies', false, 13, 13],
  ['ninth', 'replies', true, 2, 3],
  ['ninth', 'invitations', false, 1, 1],
  ['ninth', 'invitations', true, 3, 3],
  ['ninth', 'odd', false, 14, 14],
  ['ninth', 'odd', true, 13, 13],
  ['ninth', 'automatic', false, 23, 23],
  ['ninth', 'automatic', true, 8, 11],
  // After public bug reports. At first 77 and 51, 24 and 9, 24 and 9, 25 and 13, 9 and 2. `On Nov 26 you wrote:` above unmarked text stays: people
  // write it, and so does an original message within a line above other paragraphs.
  ['reported', 'replies', false, 83, 85],
  ['reported', 'replies', true, 51, 53],
  ['reported', 'automatic', false, 26, 26],
  ['reported', 'automatic', true, 11, 12],
  ['reported', 'answers', false, 27, 27],
  ['reported', 'answers', true, 9, 9],
  ['reported', 'codes', false, 28, 28],
  ['reported', 'codes', true, 13, 14],
  ['reported', 'odd', false, 10, 10],
  ['reported', 'odd', true, 2, 2],
  // And after the cures for these. At first 26 and 21, 14 and 9, 8 and 2; the others as now.
  ['reported-later', 'replies', false, 27, 29],
  ['reported-later', 'replies', true, 21, 21],
  ['reported-later', 'automatic', false, 19, 20],
  ['reported-later', 'automatic', true, 10, 10],
  ['reported-later', 'answers', false, 12, 12],
  ['reported-later', 'answers', true, 4, 4],
  ['reported-later', 'codes', false, 21, 21],
  ['reported-later', 'codes', true, 8, 8],
  ['reported-later', 'odd', false, 4, 4],
  ['reported-later', 'odd', true, 1, 1],
  // And after those. At first 11 and 8, 13 and 7, 6 and 3; the others as now.
  ['reported-last', 'replies', false, 12, 12],
  ['reported-last', 'replies', true, 8, 9],
  ['reported-last', 'automatic', false, 15, 15],
  ['reported-last', 'automatic', true, 7, 7],
  ['reported-last', 'answers', false, 7, 7],
  ['reported-last', 'answers', true, 3, 3],
  ['reported-last', 'codes', false, 10, 10],
  ['reported-last', 'codes', true, 2, 2],
  // By an author who had not seen the code or the other sets. At first 32 and 12, 76 and 57; the others as now.
  ['december', 'automatic', false, 38, 38],
  ['december', 'automatic', true, 12, 13],
  ['december', 'answers', false, 3, 3],
  ['december', 'answers', true, 5, 5],
  ['december', 'replies', false, 77, 77],
  ['december', 'replies', true, 57, 57],
  ['december', 'codes', false, 24, 24],
  ['december', 'codes', true, 8, 8],
  ['december', 'invitations', false, 5, 5],
  ['december', 'invitations', true, 3, 3],
  ['december', 'odd', false, 16, 16],
  ['december', 'odd', true, 12, 12],
  // Near to what that author's set showed, and look-alikes, before the cures. At first 9 and 2; replies as now.
  ['december-later', 'automatic', false, 44, 44],
  ['december-later', 'automatic', true, 16, 16],
  ['december-later', 'replies', false, 1, 1],
  ['december-later', 'replies', true, 3, 3],
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
