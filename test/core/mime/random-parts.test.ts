import { expect, test } from 'vitest';
import { decodeAttachment } from '../../../core/mime/attachment.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { makeRandomMessage } from './odd/random-parts.ts';

const MESSAGES = 1_500;

test(`no part of ${MESSAGES} broken multipart messages is lost`, async () => {
  const lost: string[] = [];
  for (let seed = 1; seed <= MESSAGES; seed++) {
    const { raw, words } = makeRandomMessage(seed);
    const { textBody, htmlBody, attachments } = await parseMessage(raw);
    const contents = attachments.map(({ start, length, transferEncoding }) =>
      Buffer.from(decodeAttachment(raw.subarray(start, start + length), transferEncoding)).toString('latin1'),
    );
    const all = [textBody ?? '', htmlBody ?? '', ...contents].join('\n');
    for (const word of words) if (!all.includes(word)) lost.push(`${word} of message ${seed}`);
  }
  expect(lost).toEqual([]);
});
