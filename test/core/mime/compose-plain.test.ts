import { expect, test } from 'vitest';
import type { Mailbox } from '../../../core/mime/address.ts';
import { composeMessage, composeWithNodemailer, type Draft } from '../../../core/mime/compose-message.ts';
import { composePlain } from '../../../core/mime/compose-plain.ts';
import { seededRandom } from '../../support/rows/thread-mail.ts';

const ADDRESSES = [
  'ann@own.test',
  'Ann.Lee+tag@own.test',
  "o'brien_x=y@a-b.own.test",
  '"quoted local"@own.test',
  'a..b@own.test',
  'c@xn--bcher-kva.test',
  'd@OWN.test',
  'e@own.0x1',
  `${'f'.repeat(64)}@own.test`,
];
const NAMES = [
  null,
  '',
  'Ann',
  'Ann Lee',
  'Lee, Ann',
  'A "B" C',
  'back\\slash',
  'Ünï',
  '=?utf-8?Q?b?=',
  '  two  spaces ',
  'line\r\nend',
  'x'.repeat(200),
  'word '.repeat(50),
];
const SUBJECTS = [
  'Lunch',
  '',
  ' ',
  'Grüße aus München',
  'two  spaces',
  '=?utf-8?Q?a?=',
  'word '.repeat(40),
  'x'.repeat(300),
  'a\r\nBcc: evil@e.test',
  '🎉'.repeat(50),
];
const IDS = ['<a@x.test>', '<b.c@d.test>', `<${'y'.repeat(120)}@x.test>`, '<with space@x.test>', 'bare', '<a@x>b>'];
const BODIES = [
  'Hello\n',
  'Hello',
  '',
  '\n',
  'a\nb\n\n',
  'word '.repeat(15),
  'word '.repeat(16),
  `${'x'.repeat(76)}\n`,
  `${'x'.repeat(77)}\n`,
  'tab\tend \n.\n..\nFrom here\n',
  'Grüße\n',
  '田中さん\n',
  'a\u0001b',
  'a\u007fb',
  '12345 67890 é\n',
  'line\n'.repeat(3_000),
  '<p>Hello</p>',
  `<p style="a=b">${'word '.repeat(30)}</p>`,
];

const random = seededRandom(17);
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
/** Mostly the first ones of a list, so that many drafts need nothing special. */
const often = <T>(from: readonly T[]): T => (random() < 0.75 ? pick(from.slice(0, 3)) : pick(from));
const some = <T>(most: number, make: () => T): T[] => Array.from({ length: Math.floor(random() * (most + 1)) }, make);
const mailbox = (): Mailbox => ({ address: often(ADDRESSES), name: often(NAMES) });

function randomDraft(): Draft {
  const bodies = { text: random() < 0.7 ? pick(BODIES) : null, html: random() < 0.5 ? pick(BODIES) : null };
  return {
    messageId: '<0123456789abcdef@own.test>',
    date: new Date(Math.floor(random() * 2e12)),
    from: mailbox(),
    to: some(3, mailbox),
    cc: some(2, mailbox),
    replyTo: some(1, mailbox),
    subject: random() < 0.5 ? 'Lunch' : pick(SUBJECTS),
    ...bodies,
    inReplyTo: random() < 0.5 ? null : often(IDS),
    references: some(3, () => often(IDS)),
    fields: [],
    attachments: [],
  };
}

test('a plain message has the bytes that nodemailer would compose', async () => {
  let plain = 0;
  for (let n = 0; n < 600; n++) {
    const draft = randomDraft();
    const expected = composeWithNodemailer(draft);
    const composed = await composeMessage(draft).catch((error: unknown) => error);
    if (composed instanceof Error) expect(composed.message, JSON.stringify(draft)).toMatch(/^the composed message has/);
    else if (!expected.equals(composed as Buffer)) {
      expect((composed as Buffer).toString('latin1'), JSON.stringify(draft)).toBe(expected.toString('latin1'));
    }
    if (isComposedPlain(draft)) plain++;
  }
  // Otherwise the comparison is of nodemailer with itself.
  expect(plain).toBeGreaterThan(100);
});

function isComposedPlain({ text, html, ...draft }: Draft): boolean {
  const bodies = [text, html].flatMap((content) =>
    content === null ? [] : [{ type: 'text/plain' as const, content }],
  );
  const encode = (content: string) => ({ encoding: 'base64' as const, text: content });
  return composePlain({ ...draft, bodies, boundary: 'b' }, encode) !== null;
}
