import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { AddressList } from '../../../core/mime/address.ts';
import { corporaDirectory } from './corpora.ts';

/** What two independent parsers agree on about one message (README of the corpora). */
export interface Facts {
  file: string;
  subject: string | null;
  from: FactMailbox[] | null;
  to: FactMailbox[] | null;
  cc: FactMailbox[] | null;
  attachment_count: number | null;
  attachments: FactAttachment[] | null;
  /** of the first part of that type; null when the parsers agree that there is none */
  first_text_sha256: string | null;
  first_html_sha256: string | null;
  agreed: Record<FactName, boolean>;
}

interface FactMailbox {
  name: string | null;
  address: string;
}

interface FactAttachment {
  filename: string | null;
  content_type: string;
  size: number | null;
  /** null for attached messages */
  sha256: string | null;
}

const factNames = [
  'subject',
  'from',
  'to',
  'cc',
  'attachment_count',
  'attachment_content',
  'attachments',
  'text',
  'html',
] as const;
type FactName = (typeof factNames)[number];

/** What was read of a message, whoever shows it. */
export interface ReadMessage {
  subject: string;
  from: AddressList | null;
  to: AddressList | null;
  cc: AddressList | null;
  text: string | null;
  html: string | null;
  attachments: { filename: string; contentType: string; size: number; bytes: Uint8Array }[];
}

/** Of all fields that both parsers agree on. */
export const REQUIRED_AGREEMENT = 0.98;

export interface FactScore {
  asserted: number;
  agree: number;
  /** every fact by name, with the files that were read otherwise */
  byName: Map<FactName, { asserted: number; agree: number; wrong: string[] }>;
}

/** The facts of the 520 messages of eml/. */
export async function readFacts(): Promise<Facts[]> {
  const lines = (await readFile(path.join(corporaDirectory, 'facts.jsonl'), 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Facts);
}

/** Every fact that `agreed` names counts, of every file; a message that was not read (null) has all of its facts wrong. */
export async function scoreFacts(
  facts: readonly Facts[],
  read: (file: string) => Promise<ReadMessage | null>,
): Promise<FactScore> {
  const byName: FactScore['byName'] = new Map(factNames.map((name) => [name, { asserted: 0, agree: 0, wrong: [] }]));
  for (const fact of facts) {
    const message = await read(fact.file);
    for (const [name, entry] of byName) {
      if (!fact.agreed[name]) continue;
      entry.asserted++;
      if (message !== null && agrees(fact, name, message)) entry.agree++;
      else entry.wrong.push(path.basename(fact.file));
    }
  }
  const sum = (of: 'asserted' | 'agree') => [...byName.values()].reduce((total, entry) => total + entry[of], 0);
  return { asserted: sum('asserted'), agree: sum('agree'), byName };
}

/** Prints a score, a line for each fact. */
export function printScore(reader: string, { asserted, agree, byName }: FactScore): void {
  for (const [name, entry] of byName) {
    const not = entry.wrong.length > 0 ? `, not: ${entry.wrong.join(' ')}` : '';
    process.stdout.write(`facts by ${reader}: ${name} ${entry.agree}/${entry.asserted}${not}\n`);
  }
  process.stdout.write(`facts by ${reader}: all ${agree}/${asserted} = ${((100 * agree) / asserted).toFixed(2)} %\n`);
}

function agrees(fact: Facts, name: FactName, message: ReadMessage): boolean {
  switch (name) {
    case 'subject':
      return oneLine(message.subject) === oneLine(fact.subject ?? '');
    case 'from':
    case 'to':
    case 'cc':
      return sameMailboxes(message[name], fact[name] ?? []);
    case 'attachment_count':
      return message.attachments.length === fact.attachment_count;
    case 'attachment_content':
      return sameContent(message, fact.attachments ?? []);
    case 'attachments':
      return sameNames(message, fact.attachments ?? []);
    case 'text':
      return beginsWith(message.text, fact.first_text_sha256);
    case 'html':
      return beginsWith(message.html, fact.first_html_sha256);
  }
}

function sameMailboxes(list: AddressList | null, expected: readonly FactMailbox[]): boolean {
  const pairs = (mailboxes: readonly FactMailbox[]) =>
    JSON.stringify(mailboxes.map(({ name, address }) => [oneLine(name ?? ''), address]));
  return pairs(list?.addresses ?? []) === pairs(expected);
}

/** The facts are of the files as they lie there, with LF; what came by SMTP has CRLF in parts that are not encoded. */
function sameContent(message: ReadMessage, expected: readonly FactAttachment[]): boolean {
  if (message.attachments.length !== expected.length) return false;
  return message.attachments.every(({ size, bytes }, at) => {
    const fact = expected[at];
    if (fact === undefined || fact.sha256 === null) return fact !== undefined;
    const forms = [bytes, Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll('\r\n', '\n'), 'latin1')];
    return size === bytes.length && forms.some((form) => form.length === fact.size && sha256(form) === fact.sha256);
  });
}

function sameNames(message: ReadMessage, expected: readonly FactAttachment[]): boolean {
  if (message.attachments.length !== expected.length) return false;
  return message.attachments.every(({ filename, contentType }, at) => {
    const fact = expected[at];
    return fact?.content_type === contentType && (fact.filename === null || fact.filename === filename);
  });
}

/** Whether the body is, or begins with, the part that has this sum: further parts follow after a line end. Without a sum: no body. */
function beginsWith(body: string | null, sum: string | null): boolean {
  if (body === null || sum === null) return sum === null && (body ?? '').trim() === '';
  const text = body.replaceAll('\r', '');
  const hash = createHash('sha256');
  let hashed = 0;
  for (let end = 0; end <= text.length; end++) {
    if (end < text.length && text[end] !== '\n') continue;
    const line = text.slice(hashed, end).trimEnd();
    hash.update(line);
    hashed += line.length;
    if (hash.copy().digest('hex') === sum) return true;
  }
  return false;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
