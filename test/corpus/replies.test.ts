import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseMessage } from '../../core/mime/parse-message.ts';
import { readReply } from '../../core/mime/reply-text.ts';
import { corporaDirectory, hasCorpora } from '../support/mail/corpora.ts';

const replies = path.join(corporaDirectory, 'replies');

describe.skipIf(!hasCorpora)('Of the replies of the corpora', () => {
  test('63 of 64 are separated exactly; the other one has no text of its own', async () => {
    const files = await readdir(path.join(replies, 'discourse/expected'));
    const missed: string[] = [];
    for (const file of files) {
      const [text = '', expected = ''] = await Promise.all(
        ['emails', 'expected'].map((folder) => readFile(path.join(replies, 'discourse', folder, file), 'utf8')),
      );
      if (readReply(text).text !== expected.replaceAll('\r\n', '\n').trim()) missed.push(file);
    }
    expect(files).toHaveLength(64);
    expect(missed).toEqual(['spam_1.txt']);
  });

  test('the plain texts of 12 mail programs are separated, signatures named', async () => {
    const folder = path.join(replies, 'talon/standard_replies');
    const files = (await readdir(folder)).filter((file) => file.endsWith('.eml'));
    const missed: string[] = [];
    for (const file of files) {
      const { textBody } = await parseMessage(await readFile(path.join(folder, file)));
      const expected = await readFile(path.join(folder, file.replace('.eml', '_reply_text')), 'utf8').catch(
        () => 'Hello',
      );
      const { text, removed } = readReply(textBody ?? '');
      const signatures = removed.filter(({ kind }) => kind === 'signature');
      const signed = [text, ...signatures.map(({ start, end }) => textBody?.slice(start, end))].join('\n');
      if (words(signed) !== words(expected) && words(text) !== words(expected)) missed.push(file);
    }
    expect(files).toHaveLength(12);
    expect(missed).toEqual([]);
  });
});

function words(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
