import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { decodeAttachment } from '../../core/mime/attachment.ts';
import { readMailReport } from '../../core/mime/parse-bounce.ts';
import { type ParsedMessage, parseMessage } from '../../core/mime/parse-message.ts';
import { baseSubject } from '../../core/mime/subject.ts';
import { replySubject } from '../../core/sending/address-reply.ts';
import { corporaDirectory, hasCorpora } from '../support/mail/corpora.ts';
import { joinMessages } from '../support/mail/join-messages.ts';

/** A case of expect.jsonl. */
interface PublicCase {
  id: string;
  source: string;
  kind: string;
  how: 'smtp' | 'rest';
  files: string[];
  expect: Expected & { files?: Record<string, Expected> | string[] };
}

/** What is right. Absent: left open. */
interface Expected {
  subject?: string;
  normalized_subject?: string;
  from_name?: string;
  date?: string | null;
  text?: string | null;
  text_contains?: string[];
  text_nfc_contains?: string[];
  text_not_contains?: string[];
  html?: string | null;
  html_contains?: string[];
  cleaned_text?: string;
  cleaned_text_contains?: string[];
  cleaned_html_contains?: string[];
  attachments?: {
    filename?: string;
    filename_ends?: string;
    contentType?: string;
    contentId?: string;
    sha256?: string;
  }[];
  /** visible in the text or as an attachment */
  attachments_any?: boolean;
  /** the files of each thread, without their ending */
  threads?: string[][];
  message_id?: Record<string, string>;
  /** the subject of our reply to a file */
  reply_to?: string;
  reply_subject?: string;
}

const folder = path.join(corporaDirectory, 'public-reports');

function readCases(): PublicCase[] {
  const lines = readFileSync(path.join(folder, 'expect.jsonl'), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as PublicCase);
}

/** What the parser alone decides, one message at a time. What is sent has tests of its own. */
function isOfParser({ how, kind }: PublicCase): boolean {
  return how === 'smtp' && kind !== 'threads';
}

function isOfThreads({ how, kind }: PublicCase): boolean {
  return how === 'smtp' && kind === 'threads';
}

/** Where Postroom decides otherwise: people type words such as `<yes>` for ids, so an id without `@` joins nothing (decision 10). */
const DECIDED: Readonly<Record<string, string[][]>> = { '75-id-without-at': [['75a'], ['75b']] };

const cases = hasCorpora ? readCases() : [];

describe.skipIf(!hasCorpora)('the cases of public reports', () => {
  test('are complete', () => {
    expect(cases).toHaveLength(75);
    expect(cases.filter(isOfParser).length).toBe(60);
    expect(cases.filter(isOfThreads).length).toBe(5);
  });

  test.each(cases.filter(isOfParser))('$id is read as its sender meant it', async ({ expect: wanted, files }) => {
    const perFile = typeof wanted.files === 'object' && !Array.isArray(wanted.files) ? wanted.files : null;
    const messages = Array.isArray(wanted.files) ? wanted.files : files;
    const all = perFile === null ? messages.map((file) => [file, wanted] as const) : Object.entries(perFile);
    expect(all.length).toBeGreaterThan(0);
    for (const [file, each] of all) expectRead(file, each, await read(file));
  });

  test.each(cases.filter(isOfThreads))('$id is joined as its senders meant it', async ({ id, expect: wanted }) => {
    const files = Array.isArray(wanted.files) ? wanted.files : [];
    const messages = await Promise.all(files.map(async (file) => [file, (await read(file)).message] as const));
    expect(joinMessages(messages.map(([file, message]) => [toName(file), message]))).toEqual(
      DECIDED[id] ?? wanted.threads,
    );
    for (const [file, { messageId, subject }] of messages) {
      const name = toName(file);
      if (wanted.message_id?.[name] !== undefined) expect(messageId).toBe(wanted.message_id[name]);
      if (wanted.reply_to === name) expect(replySubject(subject)).toBe(wanted.reply_subject);
    }
  });

  test('96: a report in lower case with brackets is read', async () => {
    const { steps } = JSON.parse(
      readFileSync(path.join(folder, '96-bounce-in-lower-case-with-brackets.json'), 'utf8'),
    ) as { steps: { eml?: string }[] };
    const report = await readMailReport(Buffer.from(steps.find(({ eml }) => eml !== undefined)?.eml ?? ''));
    expect(report).toMatchObject({
      recipients: [{ finalRecipient: 'nobody@ext.example', action: 'failed', reason: 'user_unknown' }],
    });
  });
});

function toName(file: string): string {
  return file.replace(/\.eml$/, '');
}

async function read(file: string): Promise<{ raw: Buffer; message: ParsedMessage }> {
  const raw = readFileSync(path.join(folder, file));
  return { raw, message: await parseMessage(raw) };
}

function expectRead(file: string, wanted: Expected, { raw, message }: Awaited<ReturnType<typeof read>>): void {
  expect(message.parseError).toBeNull();
  const attachments = message.attachments.map(({ filename, contentType, contentId, ...place }) => ({
    filename,
    contentType,
    contentId,
    sha256: sha256(decodeAttachment(raw.subarray(place.start, place.start + place.length), place.transferEncoding)),
  }));
  const { subject, textBody, htmlBody, cleanedText, cleanedHtml } = message;
  const whole = `${textBody ?? ''}\n${htmlBody ?? ''}`;
  if (wanted.subject !== undefined) expect(subject, file).toBe(wanted.subject);
  if (wanted.normalized_subject !== undefined) expect(baseSubject(subject), file).toBe(wanted.normalized_subject);
  if (wanted.from_name !== undefined) expect(message.addresses.from?.addresses[0]?.name, file).toBe(wanted.from_name);
  if (typeof wanted.date === 'string') expect(message.date?.toISOString(), file).toBe(`${wanted.date}.000Z`);
  // A text of another kind of body counts, too: readers show it.
  if (typeof wanted.text === 'string') expect((textBody ?? readText(htmlBody)).trim(), file).toBe(wanted.text.trim());
  if (wanted.text === null) expect((textBody ?? '').trim(), file).toBe('');
  if (wanted.html === null) expect(htmlBody, file).toBeNull();
  for (const part of wanted.text_contains ?? []) expect(whole, file).toContain(part);
  for (const part of wanted.text_nfc_contains ?? []) expect(whole.normalize('NFC'), file).toContain(part);
  for (const part of wanted.text_not_contains ?? []) expect(whole, file).not.toContain(part);
  for (const part of wanted.html_contains ?? []) expect(htmlBody, file).toContain(part);
  if (wanted.cleaned_text !== undefined) expect(cleanedText, file).toBe(wanted.cleaned_text);
  for (const part of wanted.cleaned_text_contains ?? []) expect(cleanedText, file).toContain(part);
  for (const part of wanted.cleaned_html_contains ?? []) expect(cleanedHtml, file).toContain(part);
  if (wanted.attachments_any === true) expect(whole.trim() !== '' || attachments.length > 0, file).toBe(true);
  if (wanted.attachments === undefined) return;
  expect(attachments, file).toHaveLength(wanted.attachments.length);
  for (const [at, { filename_ends, ...fields }] of wanted.attachments.entries()) {
    expect(attachments[at], file).toMatchObject(fields);
    expect(attachments[at]?.filename.endsWith(filename_ends ?? ''), file).toBe(true);
  }
}

function readText(html: string | null): string {
  return (html ?? '').replace(/<[^>]*>/g, '');
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
