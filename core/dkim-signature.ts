import { endOfHeaderSection } from './header-fields.ts';

/** Whom a signature speaks for. */
export interface DkimIdentity {
  /** `d=`, an A-label name */
  domain: string;
  /** `s=` */
  selector: string;
}

/** A DKIM-Signature field that lacks its signature. */
export interface UnsignedDkimField {
  /** what RSA with SHA-256 is to sign (RFC 6376 §3.7) */
  input: Buffer;
  /** The whole field with this signature, its line end included. */
  complete(signature: Uint8Array): Buffer;
}

/**
 * Fields that are signed, and signed as absent once more, so that none can be added or doubled on the way (RFC 6376 §5.4.2, §8.15).
 */
const SEALED_FIELDS = [
  'From',
  'To',
  'Cc',
  'Subject',
  'Date',
  'Message-ID',
  'Reply-To',
  'In-Reply-To',
  'References',
  'MIME-Version',
  'Content-Type',
];
/** Fields that are signed where they stand; RFC 8058 §4 asks for the List-Unsubscribe pair. */
const SIGNED_FIELDS = [
  'Content-Transfer-Encoding',
  'List-Id',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
  'Feedback-ID',
];

/** Characters of a line of the field, and of its signature. */
const LINE_LENGTH = 76;
/** Octets of a piece of the body; a large message is hashed in several turns. */
const PIECE_OCTETS = 262_144;

/**
 * The body in relaxed canonicalization (RFC 6376 §3.4.4), in pieces whose concatenation is to be hashed. `octets` is the whole message
 * in CRLF lines. One character stands for one octet.
 */
export function* relaxedBody(octets: Buffer): Generator<string, void> {
  const start = startOfBody(octets);
  const end = endOfText(octets, start);
  for (let at = start; at < end; ) {
    const lineEnd = octets.indexOf(LINE_FEED, Math.min(at + PIECE_OCTETS, end));
    const next = lineEnd === -1 || lineEnd >= end ? end : lineEnd + 1;
    yield octets
      .toString('latin1', at, next)
      .replace(/[ \t]+/g, ' ')
      .replaceAll(' \r\n', '\r\n');
    at = next;
  }
  if (end > start) yield '\r\n';
}

/**
 * Prepares the signature of a message in CRLF lines: rsa-sha256, relaxed/relaxed, all that readers and receivers go by. `bodyHash` is the
 * SHA-256 of the relaxed body in base64; `signedAt` becomes `t=`. The signature itself is for the caller to make, off its thread.
 */
export function prepareDkimSignature(
  octets: Buffer,
  bodyHash: string,
  identity: DkimIdentity,
  signedAt: Date,
): UnsignedDkimField {
  const header = octets.toString('latin1', 0, endOfHeaderSection(octets));
  const fields = canonicalFields(header);
  const names: string[] = [];
  const signed: string[] = [];
  const take = (name: string, isSealed: boolean) => {
    // Fields of one name are signed from the last to the first (RFC 6376 §5.4.2).
    const values = fields.get(name.toLowerCase()) ?? [];
    for (const value of values.toReversed()) signed.push(`${name.toLowerCase()}:${value}\r\n`);
    names.push(...values.map(() => name), ...(isSealed ? [name] : []));
  };
  for (const name of SEALED_FIELDS) take(name, true);
  for (const name of SIGNED_FIELDS) take(name, false);

  const tags = [
    'v=1;',
    'a=rsa-sha256;',
    'c=relaxed/relaxed;',
    `d=${identity.domain};`,
    `s=${identity.selector};`,
    `t=${Math.floor(signedAt.getTime() / 1_000)};`,
    `bh=${bodyHash};`,
    ...namesFolded(names),
    'b=',
  ];
  const field = fold('DKIM-Signature:', tags);
  const unsigned = `dkim-signature:${canonicalValue(field.slice(field.indexOf(':') + 1))}`;
  return {
    input: Buffer.from(signed.join('') + unsigned, 'latin1'),
    complete(signature) {
      const lines = Buffer.from(signature).toString('base64').match(SIGNATURE_LINE) ?? [];
      return Buffer.from(`${field}${lines.join('\r\n ')}\r\n`, 'latin1');
    },
  };
}

const LINE_FEED = 0x0a;
const WHITE = new Set([0x20, 0x09, 0x0d, LINE_FEED]);
const SIGNATURE_LINE = new RegExp(`.{1,${LINE_LENGTH - 4}}`, 'g');

function startOfBody(octets: Buffer): number {
  const end = endOfHeaderSection(octets);
  return octets.toString('latin1', end, end + 2) === '\r\n' ? end + 2 : end;
}

/** Behind the last octet of the body that is no white space: empty lines and blanks at the end do not count. */
function endOfText(octets: Buffer, start: number): number {
  let end = octets.length;
  while (end > start && WHITE.has(octets[end - 1] ?? 0)) end--;
  return end;
}

/** RFC 6376 §3.4.2; by name in lower case, in their order. */
function canonicalFields(header: string): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const field of header.split(/\r\n(?![ \t])/)) {
    const colon = field.indexOf(':');
    if (colon < 1) continue;
    const name = field.slice(0, colon).trimEnd().toLowerCase();
    const values = fields.get(name) ?? [];
    values.push(canonicalValue(field.slice(colon + 1)));
    fields.set(name, values);
  }
  return fields;
}

function canonicalValue(value: string): string {
  return value
    .replaceAll('\r\n', '')
    .replace(/[ \t]+/g, ' ')
    .replace(/^ | $/g, '');
}

/** `h=` in pieces between which a line may end (RFC 6376 §3.5). */
function namesFolded(names: readonly string[]): string[] {
  return names.map((name, n) => `${n === 0 ? 'h=' : ''}${name}${n === names.length - 1 ? ';' : ':'}`);
}

function fold(name: string, pieces: readonly string[]): string {
  let folded = name;
  let length = name.length;
  for (const piece of pieces) {
    const isNewLine = length + 1 + piece.length > LINE_LENGTH || piece === 'b=';
    // Nothing stands between the names of h= within a line.
    const separator = isNewLine ? '\r\n ' : folded.endsWith(':') && length > name.length ? '' : ' ';
    folded += separator + piece;
    length = isNewLine ? 1 + piece.length : length + separator.length + piece.length;
  }
  return folded;
}
