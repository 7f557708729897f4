import { expect, test } from 'vitest';
import { handEntries } from '../../../operations/emails/timeline-entries.ts';

test.each([
  [null, 'Moved to the folder Spam'],
  ['Eicar-Signature', 'Moved to quarantine'],
])('the timeline says where mail with the virus %s was moved', (virus, title) => {
  const at = new Date('2026-11-29T23:00:00Z');
  expect(handEntries([{ emailId: 'em_1', kind: 'email.spam', at, data: { verdict: 'spam', virus } }])).toMatchObject([
    { kind: 'spam', title },
  ]);
});
