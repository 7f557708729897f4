import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { LOGS, SECRETS, type Secret, type SecretKind, SHORTEST_SECRET } from './kept-logs.ts';

/** A secret in a log. */
interface Leak {
  kind: SecretKind;
  /** the log's file, named after its process */
  log: string;
  /** with what is secret masked, and cut */
  line: string;
}

export interface Findings {
  leaks: Leak[];
  logCount: number;
  lineCount: number;
  /** how many were looked for, of each kind */
  secretCounts: Map<SecretKind, number>;
}

/** What programs print on purpose to whoever runs them, and why; nothing else may hold a secret. The first expression is of the log's name. */
const MEANT: { program: RegExp; line: RegExp; because: string }[] = [
  {
    program: /^start-/,
    line: /^ {2}(?:Dashboard http\S+\/sign-in\/link#\S+|API key {3}\S+ {3}\(shown only once\)|curl -H 'Authorization: Bearer \S+' http\S+)$/,
    because: 'the first start shows the owner of the machine how to get in',
  },
  {
    program: /^account-/,
    line: /^(?:\{"userId":"[^"]+","email":"[^"]+","apiKey":"[^"]+"\}|http\S+\/sign-in\/link#\S+)$/,
    because: 'the command is asked for the key, or the link',
  },
];

/** What private keys look like (RFC 7468, RFC 8017, RFC 8410), be it without their first line. */
const PRIVATE_KEYS = [
  'PRIVATE KEY-----',
  'IBADANBgkqhkiG9w0BAQEFAASC',
  'MIIEowIBAAKCAQEA',
  'MIIEpAIBAAKCAQEA',
  'MIIEpQIBAAKCAQEA',
  'MC4CAQAwBQYDK2VwBCIE',
];

/** Of a line that is shown. Characters. */
const MAX_LINE = 300;
/** What is shown of all leaks. */
const MAX_SHOWN = 30;
/** Of a line without end, or between two that are read together. Bytes. */
const MAX_CARRIED = 65_536;

/** Kinds that a whole run of the command comes to know for certain; one that is missing is no longer looked for. */
export const EXPECTED: Readonly<Record<'npm test' | 'npm run test:program', readonly SecretKind[]>> = {
  'npm test': [
    'API key',
    'hash of an API key',
    'password',
    'session cookie',
    'webhook secret',
    'verification token',
    'password of a server',
    'mail body',
  ],
  'npm run test:program': [
    'API key',
    'hash of an API key',
    'one-time link',
    'webhook secret',
    'SECRET_KEY',
    'password of a server',
    'mail body',
  ],
};

/**
 * Looks through the folder's logs. Returns lines that report the result, and how many failures they count as: the lines with secrets, the
 * kinds of `expected` that the run did not come to know, and the lack of logs if some kinds were expected.
 */
export async function reportLeaks(
  folder: string,
  expected: readonly SecretKind[],
): Promise<{ lines: string[]; failureCount: number }> {
  const startedAt = performance.now();
  const { leaks, logCount, lineCount, secretCounts } = await findLeaks(folder);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const kinds = [...secretCounts].map(([kind, count]) => `${kind}: ${count}`).join(', ') || 'none';
  const missing = expected.filter((kind) => !secretCounts.has(kind));
  const isBlind = expected.length > 0 && lineCount === 0;
  return {
    lines: [
      `Looked for secrets (${kinds}) in ${lineCount} lines of ${logCount} logs, ${seconds} s.`,
      ...leaks.slice(0, MAX_SHOWN).map(({ kind, log, line }) => `  ${kind} in ${log}: ${line}`),
      ...(leaks.length > 0 ? [`${leaks.length} lines hold what must not be logged; all is kept in ${folder}.`] : []),
      ...missing.map((kind) => `  no ${kind} was known, so none could be found`),
      ...(isBlind ? ['  there were no logs'] : []),
    ],
    failureCount: leaks.length + missing.length + (isBlind ? 1 : 0),
  };
}

/** Looks through all kept logs for all secrets of the run: plain, in Base64 at any place, and percent-encoded. */
export async function findLeaks(folder: string): Promise<Findings> {
  const secrets = await readSecrets(path.join(folder, SECRETS));
  const finder = new Finder([...secrets].flatMap(([value, kind]) => listForms({ kind, value })));
  const findings: Findings = { leaks: [], logCount: 0, lineCount: 0, secretCounts: new Map() };
  for (const kind of secrets.values()) findings.secretCounts.set(kind, (findings.secretCounts.get(kind) ?? 0) + 1);
  for (const log of await readdir(path.join(folder, LOGS))) {
    findings.logCount++;
    for await (const bytes of wholeLines(path.join(folder, LOGS, log))) {
      findings.lineCount += countLines(bytes);
      findings.leaks.push(...leaksIn(log, bytes, finder));
    }
  }
  return findings;
}

async function readSecrets(folder: string): Promise<Map<string, SecretKind>> {
  const secrets = new Map<string, SecretKind>();
  for (const name of await readdir(folder))
    for (const line of (await readFile(path.join(folder, name), 'latin1')).split('\n')) {
      const [kind = '', value = ''] = line.split('\t');
      if (value.length >= SHORTEST_SECRET) secrets.set(value, kind as SecretKind);
    }
  return secrets;
}

function listForms({ kind, value }: Secret): Secret[] {
  const forms = [value, encodeURIComponent(value), ...base64Forms(Buffer.from(value, 'latin1'))];
  return [...new Set(forms)].filter((form) => form.length >= SHORTEST_SECRET).map((form) => ({ kind, value: form }));
}

/** What of Base64 depends on these bytes alone, with 0, 1 or 2 others before them in a group of three (RFC 4648 §4). */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
}

function* leaksIn(log: string, bytes: Buffer, finder: Finder): Iterable<Leak> {
  const kinds = new Map<number, SecretKind>();
  for (const { at, kind } of finder.find(bytes)) kinds.set(bytes.lastIndexOf(0x0a, at) + 1, kind);
  for (const [start, kind] of kinds) {
    const end = bytes.indexOf(0x0a, start);
    const line = bytes.subarray(start, end === -1 ? bytes.length : end);
    const text = line.toString('latin1');
    if (MEANT.some((meant) => meant.program.test(log) && meant.line.test(text))) continue;
    yield { kind, log, line: masked(line, finder) };
  }
}

function masked(line: Buffer, finder: Finder): string {
  const shown = Buffer.from(line);
  const found = [...finder.find(line)];
  for (const { at, byteCount } of found) shown.fill('*', at, at + byteCount);
  const begin = Math.max(0, (found[0]?.at ?? 0) - MAX_LINE / 2);
  return shown.toString('utf8', begin, begin + MAX_LINE);
}

/** The file in pieces that end with a line. */
async function* wholeLines(file: string): AsyncIterable<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(file, { highWaterMark: 4 * 1_048_576 })) {
    const bytes = Buffer.concat([rest, chunk as Buffer]);
    const end = Math.max(bytes.lastIndexOf(0x0a) + 1, bytes.length - MAX_CARRIED);
    yield bytes.subarray(0, end);
    rest = bytes.subarray(end);
  }
  if (rest.length > 0) yield rest;
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) count++;
  return count;
}

interface Found {
  at: number;
  byteCount: number;
  kind: SecretKind;
}

const BASE = 16_777_619;
/** 2^BITS places in the table of beginnings. */
const BITS = 24;

/**
 * Finds any of very many strings, by the hash of the bytes that each begins with, rolled over the text (Rabin and Karp): 8 s of one core
 * for 100 MB and 100,000 strings, where `grep -F -f` took 17 s for 60,000 (2026-11-22, on a machine that was busy).
 */
class Finder {
  readonly #beginnings = new Uint8Array(2 ** (BITS - 3));
  readonly #forms = new Map<number, { bytes: Buffer; kind: SecretKind }[]>();
  /** what the byte that leaves the window weighs */
  readonly #weight: number;

  constructor(secrets: readonly Secret[]) {
    this.#weight = Array.from({ length: SHORTEST_SECRET }).reduce<number>((weight) => Math.imul(weight, BASE), 1);
    const keys = PRIVATE_KEYS.map((value): Secret => ({ kind: 'private key', value }));
    for (const { kind, value } of [...secrets, ...keys]) {
      const bytes = Buffer.from(value, 'latin1');
      let hash = 0;
      for (const byte of bytes.subarray(0, SHORTEST_SECRET)) hash = (Math.imul(hash, BASE) + byte) | 0;
      const place = hash >>> (32 - BITS);
      this.#beginnings[place >>> 3] = (this.#beginnings[place >>> 3] ?? 0) | (1 << (place & 7));
      this.#forms.set(hash, [...(this.#forms.get(hash) ?? []), { bytes, kind }]);
    }
  }

  /** Every place of every one. */
  *find(text: Buffer): Iterable<Found> {
    let hash = 0;
    for (let end = 0; end < text.length; end++) {
      const leaving = end < SHORTEST_SECRET ? 0 : (text[end - SHORTEST_SECRET] ?? 0);
      hash = (Math.imul(hash, BASE) + (text[end] ?? 0) - Math.imul(leaving, this.#weight)) | 0;
      const place = hash >>> (32 - BITS);
      if (((this.#beginnings[place >>> 3] ?? 0) & (1 << (place & 7))) === 0) continue;
      const at = end + 1 - SHORTEST_SECRET;
      if (at < 0) continue;
      for (const { bytes, kind } of this.#forms.get(hash) ?? [])
        if (text.compare(bytes, 0, bytes.length, at, Math.min(at + bytes.length, text.length)) === 0)
          yield { at, byteCount: bytes.length, kind };
    }
  }
}
