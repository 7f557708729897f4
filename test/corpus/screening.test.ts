import { describe, expect, test } from 'vitest';
import { parseMessage } from '../../core/mime/parse-message.ts';
import { publicSuffixes } from '../../operations/emails/public-suffixes.ts';
import { hasCorpora, readEmlMessages, readThreadSet, threadSets } from '../support/mail/corpora.ts';

/** Share of real mail, among it 110 spam mails, that may be marked as text that is aimed at agents. */
const MAX_MARKED = 0.005;

describe.skipIf(!hasCorpora)('the screening of the corpora', () => {
  test('marks at most 0.5 % of 2,698 mails', async () => {
    const messages = await readEmlMessages();
    for (const name of threadSets) messages.push(...(await readThreadSet(name)).messages);
    expect(messages).toHaveLength(2_698);
    const marked: string[] = [];
    for (const { file, bytes } of messages) {
      const { injection } = await parseMessage(bytes, publicSuffixes);
      if (injection?.verdict === 'review') marked.push(file);
    }
    process.stdout.write(`corpora: ${marked.length} of ${messages.length} marked\n`);
    expect(marked.length / messages.length, marked.join(', ')).toBeLessThanOrEqual(MAX_MARKED);
  });
});
