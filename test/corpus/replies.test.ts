import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { sanitizeHtmlBody } from '../../core/html/sanitize-html.ts';
import { textOfHtml } from '../../core/html/text-of-html.ts';
import { type ParsedMessage, parseMessage } from '../../core/mime/parse-message.ts';
import { stripQuotedHtml } from '../../core/mime/reply-html.ts';
import { readReply } from '../../core/mime/reply-text.ts';
import { corporaDirectory, hasCorpora, readEmlMessages, readThreadSet, threadSets } from '../support/mail/corpora.ts';

const replies = path.join(corporaDirectory, 'replies');

describe.skipIf(!hasCorpora)('of the replies of the corpora', () => {
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

  test('the HTML of 9 mail programs is separated', async () => {
    const folder = path.join(replies, 'talon/html_replies');
    const files = await readdir(folder);
    const missed: string[] = [];
    for (const file of files) {
      const cleaned = sanitizeHtmlBody(stripQuotedHtml(await readFile(path.join(folder, file), 'utf8'))) ?? '';
      if (words(textOfHtml(cleaned) ?? '') !== 'Hi. I am fine. Thanks, Alex') missed.push(file);
    }
    expect(files).toHaveLength(9);
    expect(missed).toEqual([]);
  });

  test('text without the removed parts is the reply, and messages without quoted mail are unchanged', async () => {
    const messages = await readEmlMessages();
    for (const name of threadSets) messages.push(...(await readThreadSet(name)).messages);
    let unquoted = 0;
    const changed: string[] = [];
    for (const { file, bytes } of messages) {
      const message = await parseMessage(bytes);
      const { textBody, htmlBody } = message;
      const reply = readReply(textBody ?? '');
      if (withoutParts(textBody ?? '', reply.removed) !== reply.text) expect.fail(`${file} has parts that do not fit`);
      if (isReply(message)) continue;
      unquoted++;
      const isTextChanged = textBody !== null && reply.text !== textBody.replaceAll('\r\n', '\n').trim();
      if (isTextChanged || (htmlBody !== null && stripQuotedHtml(htmlBody) !== htmlBody))
        changed.push(path.basename(file));
    }
    expect(unquoted).toBe(725);
    // All of these have another message below their own text, or `--` and a version, but say so nowhere in their header sections.
    expect(changed).toEqual([
      'flanker__gmail-invalid-address.eml',
      'flanker__gmail-no-dns.eml',
      'patchwork-fuzz__0019-multipart-patch.mbox_0.eml',
      '00666.eml',
      '00934.eml',
      '01120.eml',
      '01303.eml',
      '01373.eml',
      '01392.eml',
    ]);
  });
});

/** Whether a message may have quoted mail or a signature, as far as its header section, `>` and `--` tell. */
function isReply({ inReplyTo, references, subject, textBody }: ParsedMessage): boolean {
  return (
    inReplyTo.length > 0 ||
    references.length > 0 ||
    /^(?:re|fw|aw|sv)\b|\bfwd?:/i.test(subject) ||
    /^\s{0,3}>|^--\s*$/m.test(textBody ?? '')
  );
}

function withoutParts(text: string, parts: readonly { start: number; end: number }[]): string {
  let left = '';
  let at = 0;
  for (const { start, end } of parts) {
    left += text.slice(at, start);
    at = end;
  }
  return `${left}${text.slice(at)}`.replaceAll('\r\n', '\n').trim();
}

function words(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
