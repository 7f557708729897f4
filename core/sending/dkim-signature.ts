import { createHash, type KeyObject, sign } from 'node:crypto';

/** What a message is signed with (RFC 6376). */
export interface DkimSigner {
  /** `d=`, an A-label name */
  domain: string;
  /** `s=` */
  selector: string;
  /** RSA */
  privateKey: KeyObject;
}

/** Header fields to sign (RFC 6376 §5.4.1); RFC 8058 §4 asks for the List-Unsubscribe pair. */
const SIGNED_FIELDS = [
  'from',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'reply-to',
  'in-reply-to',
  'references',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'list-id',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'feedback-id',
];

/** Bytes that are hashed before other work of the process gets its turn: about 2 ms. */
const SLICE_BYTES = 262_144;
/** Characters of a line of the signature's own field. */
const LINE_LENGTH = 72;

const LINE_FEED = 0x0a;
const LINE_END = '\r\n';

/**
 * Returns the DKIM-Signature field of a message, with its line end, to be put before it: relaxed/relaxed, rsa-sha256. It covers the last
 * field of each name in SIGNED_FIELDS, and the whole body. RSA runs in the thread pool of Node, and a large body is hashed in slices, with `giveWay`
 * between them. Rejects when the key cannot sign.
 */
export async function makeDkimSignature(
  message: Buffer,
  { domain, selector, privateKey }: DkimSigner,
  giveWay: () => Promise<unknown>,
): Promise<string> {
  return signWhole(message, 'DKIM-Signature: v=1;', { domain, selector, privateKey }, giveWay);
}

/** Returns a field that begins with `start` and signs the fields of SIGNED_FIELDS and the body, with its line end. */
export async function signWhole(
  message: Buffer,
  start: string,
  { domain, selector, privateKey }: DkimSigner,
  giveWay: () => Promise<unknown>,
): Promise<string> {
  const bodyStart = startOfBody(message);
  const fields = signedFields(message.toString('latin1', 0, bodyStart));
  const bodyHash = await hashBody(message.subarray(bodyStart), giveWay);
  const field = [
    `${start} a=rsa-sha256; c=relaxed/relaxed;`,
    ` d=${domain};`,
    ` s=${selector}; q=dns/txt;`,
    ` bh=${bodyHash};`,
    ` h=${foldNames([...fields.keys()])};`,
    ' b=',
  ].join(LINE_END);
  return signFields([...fields], field, privateKey);
}

/** Returns the unfinished field, which ends in `b=`, with a signature of the relaxed fields and of itself, and its line end. */
export async function signFields(
  fields: readonly (readonly [name: string, value: string])[],
  field: string,
  privateKey: KeyObject,
): Promise<string> {
  const covered = [...fields, relaxedField(field)].map(([name, value]) => `${name}:${value}`).join(LINE_END);
  const signature = await signData(Buffer.from(covered, 'latin1'), privateKey);
  return `${field}${inLines(signature.toString('base64'))}${LINE_END}`;
}

/** Returns the fields of a message with these names in the relaxed form (RFC 6376 §3.4.2), first field first. */
export function relaxedFields(message: Buffer, names: ReadonlySet<string>): [name: string, value: string][] {
  return message
    .toString('latin1', 0, startOfBody(message))
    .split(/\r?\n(?![ \t])/)
    .map(relaxedField)
    .filter(([name]) => names.has(name));
}

/** RSASSA-PKCS1-v1_5 with SHA-256, in a thread of the pool. */
function signData(data: Buffer, privateKey: KeyObject): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign('sha256', data, privateKey, (error, signature) => (error === null ? resolve(signature) : reject(error)));
  });
}

/** Returns where the body begins: after the first empty line. A message without one is a header section only. */
function startOfBody(message: Buffer): number {
  for (let end = message.indexOf(LINE_FEED); end !== -1; end = message.indexOf(LINE_FEED, end + 1)) {
    const next = message[end + 1] === 0x0d ? end + 2 : end + 1;
    if (message[next] === LINE_FEED) return next + 1;
  }
  return message.length;
}

/** Returns the relaxed form of the fields to sign, in the order of SIGNED_FIELDS: of each name the last field (RFC 6376 §5.4.2). */
function signedFields(section: string): Map<string, string> {
  const present = new Map(section.split(/\r?\n(?![ \t])/).map(relaxedField));
  return new Map(
    SIGNED_FIELDS.flatMap((name) => {
      const value = present.get(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** RFC 6376 §3.4.2. Text without a colon has an empty name. */
function relaxedField(field: string): [name: string, value: string] {
  const colon = field.indexOf(':');
  const value = field
    .slice(colon + 1)
    .replace(/\r?\n/g, '')
    .replace(/\t[ \t]*| [ \t]+/g, ' ');
  let nameEnd = Math.max(colon, 0);
  while (nameEnd > 0 && ' \t'.includes(field[nameEnd - 1] ?? '')) nameEnd--;
  return [field.slice(0, nameEnd).toLowerCase(), trimSpace(value)];
}

/** Removes one space at each end; `trim` would also remove bytes that are white space as Latin-1. */
function trimSpace(value: string): string {
  const start = value.startsWith(' ') ? 1 : 0;
  return value.slice(start, value.length > start && value.endsWith(' ') ? -1 : undefined);
}

/** Returns the SHA-256 of the relaxed body (RFC 6376 §3.4.4) in base64. */
async function hashBody(body: Buffer, giveWay: () => Promise<unknown>): Promise<string> {
  const hash = createHash('sha256');
  // Empty lines at the end of the body do not count; those before another line do.
  let emptyLines = 0;
  for (let at = 0; at < body.length; ) {
    if (at > 0) await giveWay();
    const lineEnd = body.indexOf(LINE_FEED, at + SLICE_BYTES);
    const end = lineEnd === -1 ? body.length : lineEnd + 1;
    const text = relaxedLines(body.toString('latin1', at, end));
    const textEnd = endOfText(text);
    if (textEnd > 0) {
      hash.update(LINE_END.repeat(emptyLines)).update(text.slice(0, textEnd), 'latin1');
      emptyLines = 0;
    }
    emptyLines += (text.length - textEnd) / LINE_END.length;
    at = end;
  }
  return hash.digest('base64');
}

/** Returns whole lines without white space at their ends, with single spaces, each ended by CRLF. */
function relaxedLines(lines: string): string {
  const ended = lines.endsWith('\n') ? lines : `${lines}${LINE_END}`;
  return ended.replace(/\t[ \t]*| [ \t]+/g, ' ').replace(/ \r?\n|(?<!\r)\n/g, LINE_END);
}

/** Returns the length of the text up to the end of its last line that is not empty. */
function endOfText(text: string): number {
  let end = text.length;
  while (end >= 2 * LINE_END.length && text.startsWith(LINE_END, end - 2 * LINE_END.length)) end -= LINE_END.length;
  return text.startsWith(LINE_END) && end === LINE_END.length ? 0 : end;
}

/** White space may follow the colons of `h=` (RFC 6376 §3.5). */
function foldNames(names: readonly string[]): string {
  let length = 0;
  return names
    .map((name, at) => {
      const isFolded = length + name.length > LINE_LENGTH;
      length = (isFolded ? 0 : length) + name.length + 1;
      return `${isFolded ? `${LINE_END} ` : ''}${name}${at === names.length - 1 ? '' : ':'}`;
    })
    .join('');
}

function inLines(base64: string): string {
  return base64.replace(/.{72}(?=.)/g, `$&${LINE_END} `);
}
