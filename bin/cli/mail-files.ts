import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { MAX_MESSAGE_BYTES } from '../../core/smtp/smtp-limits.ts';
import { CommandError } from './command-error.ts';

/** A message of a file or folder. */
export interface FoundMessage {
  /** where it is, for the report */
  source: string;
  /** null: it is larger than a message may be, and was not read */
  raw: Buffer | null;
  isRead: boolean;
  /** null: the file does not say */
  receivedAt: Date | null;
  /** of `totalBytes`, up to the end of this message */
  bytesSoFar: number;
}

/** The messages to import, and their size for the progress bar. */
export interface MailFiles {
  totalBytes: number;
  messages: AsyncIterable<FoundMessage>;
  /** messages that the owner deleted there, or did not finish; they are left out */
  skipped: () => number;
}

export const MAIL_FORMATS = ['mbox', 'maildir', 'eml'] as const;
export type MailFormat = (typeof MAIL_FORMATS)[number];

/** Opens the files for reading. Throws CommandError when the path does not exist or has another format. */
export async function openMailFiles(format: MailFormat, at: string): Promise<MailFiles> {
  const found = await stat(at).catch(() => {
    throw new CommandError(`${at} does not exist`);
  });
  switch (format) {
    case 'mbox':
      if (!found.isFile()) throw new CommandError(`${at} is not a file`);
      return readMbox(at, found.size);
    case 'maildir':
      return readMaildir(at);
    case 'eml':
      return readEml(at, found.isFile());
  }
}

/**
 * Reads an mbox file of any size (RFC 4155): a line that begins with `From ` after an empty line begins a message. One `>` is removed from
 * quoted `From ` lines. `Status`, `X-Status` and `X-Mozilla-Status` say what was read and deleted.
 */
function readMbox(file: string, totalBytes: number): MailFiles {
  let skipped = 0;
  async function* messages(): AsyncGenerator<FoundMessage> {
    let bytesSoFar = 0;
    let number = 0;
    for await (const { from, raw, length } of splitMbox(createReadStream(file, { highWaterMark: 1 << 20 }))) {
      bytesSoFar += length;
      number += 1;
      const status = raw === null ? { isRead: false, isDeleted: false } : mboxStatus(raw);
      if (status.isDeleted) skipped += 1;
      else
        yield {
          source: `${file} message ${number}`,
          raw,
          isRead: status.isRead,
          receivedAt: dateOfFromLine(from),
          bytesSoFar,
        };
    }
  }
  return { totalBytes, messages: messages(), skipped: () => skipped };
}

interface MboxMessage {
  /** the line that begins it */
  from: string;
  raw: Buffer | null;
  /** with that line */
  length: number;
}

const FROM = Buffer.from('From ');
/** Room for the quoting, which is removed. */
const MAX_READ_BYTES = MAX_MESSAGE_BYTES + 100_000;

async function* splitMbox(chunks: AsyncIterable<Buffer>): AsyncGenerator<MboxMessage> {
  let current: { from: string; lines: Buffer[]; bytes: number; length: number } | null = null;
  let isAfterEmpty = true;
  const end = ({ from, lines, bytes, length }: NonNullable<typeof current>): MboxMessage => ({
    from,
    // The empty line before the next message belongs to the format.
    raw:
      bytes > MAX_READ_BYTES
        ? null
        : Buffer.concat(lines.at(-1)?.toString().trim() === '' ? lines.slice(0, -1) : lines),
    length,
  });
  for await (const line of listLines(chunks)) {
    if (isAfterEmpty && line.subarray(0, FROM.length).equals(FROM)) {
      if (current !== null) yield end(current);
      current = { from: line.toString('latin1').trim(), lines: [], bytes: 0, length: line.length };
    } else if (current !== null) {
      current.length += line.length;
      current.bytes += line.length;
      if (current.bytes <= MAX_READ_BYTES) current.lines.push(unquoted(line));
      else current.lines = [];
    }
    isAfterEmpty = line.length <= 2 && line.toString('latin1').trim() === '';
  }
  if (current !== null) yield end(current);
}

/** Yields lines with their ends. */
async function* listLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, start)) {
      const line = chunk.subarray(start, at + 1);
      yield rest.length === 0 ? line : Buffer.concat([...rest, line]);
      rest = [];
      start = at + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}

function unquoted(line: Buffer): Buffer {
  if (line[0] !== 0x3e) return line;
  let quotes = 0;
  while (line[quotes] === 0x3e) quotes += 1;
  return line.subarray(quotes, quotes + FROM.length).equals(FROM) ? line.subarray(1) : line;
}

/** `From ann@elsewhere.test Mon Jan  1 00:00:00 2001`, in UTC. */
function dateOfFromLine(line: string): Date | null {
  const written = /(\w{3} +\w{3} +\d{1,2} +\d{1,2}:\d\d(?::\d\d)?)(?: +[A-Z]{1,5})? +(\d{4})/.exec(line);
  const date = new Date(`${written?.[1]} ${written?.[2]} UTC`);
  return Number.isNaN(date.getTime()) ? null : date;
}

const MOZILLA_READ = 0x0001;
const MOZILLA_EXPUNGED = 0x0008;
const STATUS_BYTES = 65_536;

function mboxStatus(raw: Buffer): { isRead: boolean; isDeleted: boolean } {
  const head = raw.toString('latin1', 0, STATUS_BYTES).split(/\r?\n\r?\n/, 1)[0] ?? '';
  const field = (name: string) => new RegExp(`^${name}:[ \\t]*(\\S*)`, 'im').exec(head)?.[1] ?? '';
  const mozilla = Number.parseInt(field('X-Mozilla-Status') || '0', 16);
  return {
    isRead: field('Status').includes('R') || (mozilla & MOZILLA_READ) !== 0,
    isDeleted: field('X-Status').includes('D') || (mozilla & MOZILLA_EXPUNGED) !== 0,
  };
}

/** Reads `cur` and `new` of a Maildir. The flag S says what was read; messages with T (trashed) and D (draft) are skipped. */
async function readMaildir(folder: string): Promise<MailFiles> {
  const listed = await Promise.all(
    ['cur', 'new'].map(async (part) => {
      const names = await readdir(path.join(folder, part)).catch(() => null);
      return names?.toSorted().map((name) => ({ part, name, file: path.join(folder, part, name) })) ?? null;
    }),
  );
  if (listed.every((files) => files === null)) throw new CommandError(`${folder} has no folders cur and new`);
  const files = listed.flatMap((each) => each ?? []).map((file) => ({ ...file, flags: maildirFlags(file.name) }));
  const kept = files.filter(({ name, flags }) => !name.startsWith('.') && !/[TD]/.test(flags));
  const hidden = files.filter(({ name }) => name.startsWith('.')).length;
  return {
    ...(await readFiles(
      kept.map(({ file, part, flags }) => ({ file, isRead: part === 'cur' && flags.includes('S') })),
    )),
    skipped: () => files.length - kept.length - hidden,
  };
}

function maildirFlags(name: string): string {
  return /[:;!]2,([A-Za-z]*)$/.exec(name)?.[1] ?? '';
}

/** Reads one file, or all `.eml` files below a folder. */
async function readEml(at: string, isFile: boolean): Promise<MailFiles> {
  const names = isFile
    ? [at]
    : (await readdir(at, { recursive: true }))
        .filter((name) => /\.eml$/i.test(name))
        .toSorted()
        .map((name) => path.join(at, name));
  if (names.length === 0) throw new CommandError(`${at} has no .eml files`);
  return readFiles(names.map((file) => ({ file, isRead: false })));
}

async function readFiles(files: readonly { file: string; isRead: boolean }[]): Promise<MailFiles> {
  let totalBytes = 0;
  const sized: { file: string; isRead: boolean; size: number; modifiedAt: Date }[] = [];
  for (const each of files) {
    const { size, mtime } = await stat(each.file);
    totalBytes += size;
    sized.push({ ...each, size, modifiedAt: mtime });
  }
  async function* messages(): AsyncGenerator<FoundMessage> {
    let bytesSoFar = 0;
    for (const { file, isRead, size, modifiedAt } of sized) {
      bytesSoFar += size;
      const raw = size > MAX_READ_BYTES ? null : await readFile(file);
      yield { source: file, raw, isRead, receivedAt: modifiedAt, bytesSoFar };
    }
  }
  return { totalBytes, messages: messages(), skipped: () => 0 };
}
