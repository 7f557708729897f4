import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MailFormat, openMailFiles } from '../../../bin/cli/mail-files.ts';
import { MAX_MESSAGE_BYTES } from '../../../core/smtp/smtp-limits.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'postroom-mail-files-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function read(format: MailFormat, at: string) {
  const files = await openMailFiles(format, at);
  const messages = [];
  for await (const { raw, ...message } of files.messages)
    messages.push({ ...message, text: raw?.toString('latin1') ?? null });
  return { messages, totalBytes: files.totalBytes, skipped: files.skipped() };
}

async function readMbox(text: string) {
  const file = path.join(directory, `${text.length}.mbox`);
  await writeFile(file, text, 'latin1');
  return { file, ...(await read('mbox', file)) };
}

test('an mbox yields its messages with their flags, and dates in UTC', async () => {
  const { file, messages, totalBytes, skipped } = await readMbox(
    [
      'From ann@x.test Thu Jan  2 03:04:05 2003',
      'Status: RO',
      'Subject: one',
      '',
      '>From the start',
      '>>From twice',
      'From here',
      '',
      'From bob@x.test Thu Jan  2 03:04:05 2003',
      'X-Status: D',
      '',
      'deleted',
      '',
      'From eve@x.test unknown',
      'X-Mozilla-Status: 0001',
      '',
      'last',
      '',
    ].join('\n'),
  );
  expect(messages).toEqual([
    {
      source: `${file} message 1`,
      text: 'Status: RO\nSubject: one\n\nFrom the start\n>From twice\nFrom here\n',
      isRead: true,
      receivedAt: new Date('2003-01-02T03:04:05Z'),
      bytesSoFar: expect.any(Number),
    },
    {
      source: `${file} message 3`,
      text: 'X-Mozilla-Status: 0001\n\nlast\n',
      isRead: true,
      receivedAt: null,
      bytesSoFar: totalBytes,
    },
  ]);
  expect(skipped).toBe(1);
});

test('CRLF ends lines of an mbox as well, and an unread message has no flag', async () => {
  const { messages } = await readMbox('From a\r\nStatus: O\r\n\r\none\r\n\r\nFrom b\r\n\r\ntwo\r\n');
  expect(messages.map(({ text, isRead }) => [text, isRead])).toEqual([
    ['Status: O\r\n\r\none\r\n', false],
    ['\r\ntwo\r\n', false],
  ]);
});

test('a message that is too large is named and not read, and the next one is', async () => {
  const { messages } = await readMbox(`From a\n\n${'x'.repeat(MAX_MESSAGE_BYTES + 200_000)}\n\nFrom b\n\ntwo\n`);
  expect(messages.map(({ text }) => text)).toEqual([null, '\ntwo\n']);
});

test('a Maildir yields seen and new mail, without what was trashed or is a draft', async () => {
  const folder = path.join(directory, 'maildir');
  for (const part of ['cur', 'new']) await mkdir(path.join(folder, part), { recursive: true });
  for (const name of ['1:2,S', '2:2,', '3:2,ST', '4:2,D', '5:2,FRS', '.hidden'])
    await writeFile(path.join(folder, 'cur', name), `Subject: ${name}\n\n`);
  await writeFile(path.join(folder, 'new', '6'), 'Subject: 6\n\n');
  await utimes(path.join(folder, 'new', '6'), 1e9, 1e9);
  const { messages, skipped } = await read('maildir', folder);
  expect(messages.map(({ source, isRead }) => [path.basename(source), isRead])).toEqual([
    ['1:2,S', true],
    ['2:2,', false],
    ['5:2,FRS', true],
    ['6', false],
  ]);
  expect(messages.at(-1)?.receivedAt).toEqual(new Date(1e12));
  expect(skipped).toBe(2);
});

test('eml takes one file, or those below a folder', async () => {
  const folder = path.join(directory, 'eml', 'inner');
  await mkdir(folder, { recursive: true });
  for (const name of ['a.eml', 'b.EML', 'c.txt']) await writeFile(path.join(folder, name), 'x');
  const names = async (at: string) => (await read('eml', at)).messages.map(({ source }) => path.basename(source));
  expect(await names(path.dirname(folder))).toEqual(['a.eml', 'b.EML']);
  expect(await names(path.join(folder, 'c.txt'))).toEqual(['c.txt']);
});

test.each([
  ['mbox', 'nowhere', 'does not exist'],
  ['maildir', '.', 'has no folders cur and new'],
  ['mbox', '.', 'is not a file'],
] as const)('%s %s is refused: %s', async (format, name, reason) => {
  await expect(openMailFiles(format, path.join(directory, name))).rejects.toThrow(reason);
});
