import { type MimeValue, parseMimeValue } from './content-type.ts';
import { decodeText, unfold } from './header-fields.ts';
import { decodeStrictly, isReadableCharset } from './strict-charset.ts';

/*
 * A reader of messages that are about to leave. The readers of received mail repair what is broken, as mail programs do, each in its own way.
 * This one notes everything that two mail programs may read differently, so that a check of the content can refuse it.
 */

/** A field of a header section. */
export interface StrictField {
  /** as it is written */
  name: string;
  /** unfolded; encoded words are decoded */
  value: string;
  /** unfolded; encoded words stay */
  raw: string;
}

/** A part without child parts. */
export interface StrictPart {
  /** `1`, `2.1` (RFC 3501 §6.4.5) */
  path: string;
  /** lower case, without parameters */
  contentType: string;
  charset: string;
  disposition: string | null;
  /** null: none */
  filename: string | null;
  /** all names that its fields give it: readers take one or the other */
  names: readonly string[];
  contentId: string | null;
  /** fields of its own header section; for the only part of a message those of the message */
  fields: readonly StrictField[];
  /** decoded bytes */
  content: Buffer;
  /** of a text part; null for other parts, and when it cannot be decoded */
  text: string | null;
  /** format=flowed with DelSp=yes (RFC 3676): lines join without their last space */
  joinsLines: boolean;
}

/** What two readers may take differently. */
interface Ambiguity {
  /** continues "Postroom cannot check the email: " */
  problem: string;
  /** path of the part; null: the message */
  path: string | null;
}

export interface StrictMessage {
  /** of the message, then those of messages within it */
  fields: readonly StrictField[];
  parts: StrictPart[];
  /** text before, between and after the parts */
  stray: string[];
  ambiguities: Ambiguity[];
  /** messages within the message */
  inner: { path: string; fields: readonly StrictField[] }[];
}

const MAX_PARTS = 1_000;
const MAX_DEPTH = 20;

/** Reads a message. Takes linear time for each level of multiparts, of which there are at most 20. Never throws. */
export function readStrictly(bytes: Buffer): StrictMessage {
  const message: StrictMessage = { fields: [], parts: [], stray: [], ambiguities: [], inner: [] };
  const entity = splitEntity(bytes, null, message);
  message.fields = entity.fields;
  readEntity(entity, { path: '', depth: 0, boundaries: [], standard: 'text/plain' }, message);
  return message;
}

interface Entity {
  fields: StrictField[];
  body: Buffer;
}

/** Where an entity is. */
interface Position {
  path: string;
  depth: number;
  /** of the multiparts around it */
  boundaries: readonly string[];
  /** its type when it states none */
  standard: string;
}

const FIELD = /^([\x21-\x39\x3b-\x7e]+):(.*)$/s;
/** RFC 2047 §2, RFC 2231 §5 */
const ENCODED_WORD = /=\?([^?*\s]{1,40})(?:\*[^?\s]{0,40})?\?[bq]\?/gi;
const END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');

function splitEntity(bytes: Buffer, path: string | null, message: StrictMessage): Entity {
  const note = (problem: string) => message.ambiguities.push({ problem, path });
  const isHeadless = bytes[0] === 0x0d && bytes[1] === 0x0a;
  const end = isHeadless ? 0 : bytes.indexOf(END);
  const head = bytes.toString('latin1', 0, end === -1 ? bytes.length : end).replace(/\r\n$/, '');
  const body = end === -1 ? bytes.subarray(bytes.length) : bytes.subarray(isHeadless ? 2 : end + 4);
  const fields: StrictField[] = [];
  if (end === -1 && path !== null && head !== '') note('it has a header section that does not end');
  if (/(?<!\r)\n|\r(?!\n)/.test(head)) note('its header section has line ends that are not CRLF');
  // A field goes on in lines that begin with white space.
  for (const text of head === '' ? [] : head.split(/\r\n(?![ \t])/)) {
    const [, name, raw = ''] = FIELD.exec(text) ?? [];
    if (name === undefined) note(`its header section has a line that is not a field: "${shorten(text)}"`);
    else {
      if (/\r\n[ \t]+(?:\r\n|$)/.test(raw)) note(`the field ${name} has a folded line without text`);
      const word = [...raw.matchAll(ENCODED_WORD)].find(([, charset = '']) => !isReadableCharset(charset));
      if (word !== undefined) note(`the field ${name} has the charset ${shorten(word[1] ?? '')}. Use UTF-8`);
      fields.push({ name, value: decodeText(raw), raw: unfold(raw) });
    }
  }
  for (const name of ONCE) {
    const count = fields.filter((field) => field.name.toLowerCase() === name).length;
    if (count > 1) note(`it has the field ${name} ${count} times`);
  }
  return { fields, body };
}

/** Fields that an entity has at most once (RFC 5322 §3.6, RFC 2045 §3). Readers take the first, the last, or both. */
const ONCE = [
  'content-type',
  'content-transfer-encoding',
  'content-disposition',
  'content-id',
  'content-location',
  'content-base',
  'mime-version',
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'in-reply-to',
  'references',
];

function readEntity({ fields, body }: Entity, place: Position, message: StrictMessage): void {
  const path = place.path === '' ? '1' : place.path;
  const note = (problem: string) => message.ambiguities.push({ problem, path });
  if (message.parts.length >= MAX_PARTS || place.depth > MAX_DEPTH) {
    if (message.ambiguities.at(-1)?.problem !== TOO_MANY) note(TOO_MANY);
    return;
  }
  const raw = (name: string) => fields.find((field) => field.name.toLowerCase() === name)?.raw ?? null;
  const type = readType(raw('content-type'), place.standard, note);
  const encoding = (raw('content-transfer-encoding') ?? '7bit').trim().toLowerCase();
  const isComposite = type.value.startsWith('multipart/') || type.value === 'message/rfc822';
  if (isComposite && !IDENTITY.has(encoding))
    note(`its type ${type.value} must not have the transfer encoding ${encoding}`);
  if (type.value.startsWith('multipart/'))
    return readMultipart({ fields, body }, type, { ...place, path: place.path }, message);
  const disposition = readDisposition(raw('content-disposition'), note);
  const content = decodeTransfer(body, encoding, note);
  const charset = type.parameters.get('charset') ?? 'us-ascii';
  const names = [...namesIn(disposition, 'filename'), ...namesIn(type, 'name')];
  const isText = type.value.startsWith('text/') || TEXTUAL.test(type.value);
  const text = isText
    ? readText(content, charset, note)
    : names.some((name) => TEXT_NAME.test(name))
      ? readFile(content)
      : null;
  const isFlowed = type.parameters.get('format')?.toLowerCase() === 'flowed';
  message.parts.push({
    path,
    contentType: type.value,
    charset,
    disposition: disposition?.value ?? null,
    filename: names[0] ?? null,
    names,
    contentId: raw('content-id'),
    fields,
    content,
    text,
    joinsLines: isFlowed && type.parameters.get('delsp')?.toLowerCase() === 'yes',
  });
  const isMessage = type.value === 'message/rfc822' || type.value === 'message/global';
  if (isMessage || (!isText && names.some((name) => MESSAGE_NAME.test(name)))) {
    const inner = splitEntity(content, path, message);
    message.inner.push({ path, fields: inner.fields });
    readEntity(
      inner,
      { path: `${path}.1`, depth: place.depth + 1, boundaries: place.boundaries, standard: 'text/plain' },
      message,
    );
  }
}

const TOO_MANY = `it has more than ${MAX_PARTS} parts, or more than ${MAX_DEPTH} levels of them`;
const IDENTITY: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);
/** Types whose content is text under another name. */
const TEXTUAL =
  /^(?:application\/(?:ics|xml|xhtml\+xml|json|ld\+json|javascript|x-javascript|ecmascript|rtf)|image\/svg\+xml|message\/(?:delivery-status|disposition-notification|feedback-report|global-delivery-status))$/;

/** Programs read files of these names by the name when the type says nothing, or another thing. */
const TEXT_NAME =
  /\.(?:[sx]?html?|xht|svg|txt|text|log|csv|tsv|ics|ical|ifb|vcs|vcf|vcard|md|markdown|xml|xsl|rss|atom|json|css|eml|mht|mhtml|url|website|webloc|desktop|library-ms|search-ms)[\s.]*$/i;
const MESSAGE_NAME = /\.(?:eml|mht|mhtml)[\s.]*$/i;

const UNTYPED: MimeValue = { value: 'application/octet-stream', parameters: new Map() };

function readType(raw: string | null, standard: string, note: (problem: string) => void): MimeValue {
  if (raw === null) return { value: standard, parameters: new Map() };
  const type = parseMimeValue(raw, 'type');
  if (type === null) {
    note(`its Content-Type is not valid: "${shorten(raw)}"`);
    return UNTYPED;
  }
  const split = [...type.parameters.keys()].find((name) => /^(?:boundary|charset|format|delsp)\*/.test(name));
  if (split !== undefined) note(`its Content-Type has the parameter ${split}, which readers take differently`);
  return type;
}

function readDisposition(raw: string | null, note: (problem: string) => void): MimeValue | null {
  if (raw === null) return null;
  const disposition = parseMimeValue(raw, 'disposition');
  if (disposition === null) note(`its Content-Disposition is not valid: "${shorten(raw)}"`);
  return disposition ?? { value: 'attachment', parameters: new Map() };
}

/** Returns the names that a parameter gives, the one that most readers take first. Readers that know no sections (RFC 2231) take the plain one. */
function namesIn(field: MimeValue | null, name: string): string[] {
  if (field === null) return [];
  const plain = field.parameters.get(name);
  const parseSection = (key: string) => Number.parseInt(key.slice(name.length + 1), 10) || 0;
  const extended = [...field.parameters]
    .filter(([key]) => key.startsWith(`${name}*`))
    .toSorted(([a], [b]) => parseSection(a) - parseSection(b))
    .map(([key, value]) => (key.endsWith('*') ? decodePercents(value) : value));
  const joined = extended.length === 0 ? [] : [extended.join('').replace(/^[\w-]*'[\w-]*'/, '')];
  return [...joined, ...(plain === undefined ? [] : [decodeText(plain)])];
}

function decodePercents(text: string): string {
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

function readText(content: Buffer, charset: string, note: (problem: string) => void): string | null {
  if (!isReadableCharset(charset)) {
    note(`its charset ${shorten(charset)} is not supported here. Use UTF-8`);
    return null;
  }
  const text = decodeStrictly(content, charset);
  if (text === null) note(`its bytes are not valid in the charset ${charset}`);
  else if (text.includes('\0') || (text.includes('\u001b') && !/^iso-2022-jp$/i.test(charset)))
    note('its text has control characters that select another charset');
  return text;
}

/** Returns the text of a file that states no charset. */
function readFile(content: Buffer): string {
  const wide = content[0] === 0xff && content[1] === 0xfe ? 'utf-16le' : 'utf-16be';
  const isWide = wide === 'utf-16le' || (content[0] === 0xfe && content[1] === 0xff);
  return isWide
    ? new TextDecoder(wide).decode(content)
    : (decodeStrictly(content, 'utf-8') ?? content.toString('latin1'));
}

function decodeTransfer(body: Buffer, encoding: string, note: (problem: string) => void): Buffer {
  switch (encoding) {
    case '7bit':
    case '8bit':
    case 'binary':
      return body;
    case 'base64':
      return decodeBase64(body, note);
    case 'quoted-printable':
      return decodeQuotedPrintable(body, note);
    default:
      note(`its Content-Transfer-Encoding is not valid: "${shorten(encoding)}"`);
      return body;
  }
}

function decodeBase64(body: Buffer, note: (problem: string) => void): Buffer {
  const digits = body.toString('latin1').replace(/[\r\n\t ]+/g, '');
  const data = digits.replace(/={1,2}$/, '');
  if (!/^[A-Za-z0-9+/]*$/.test(data) || digits.length % 4 !== 0) note('its base64 is not valid');
  return Buffer.from(data, 'base64');
}

/** RFC 2045 §6.7 */
function decodeQuotedPrintable(body: Buffer, note: (problem: string) => void): Buffer {
  const text = body
    .toString('latin1')
    .replace(/(?<![ \t])[ \t]+(?=\r\n)/g, (blanks, at: number, all: string) => (all[at - 1] === '=' ? '' : blanks));
  if (/=(?!\r\n|[0-9a-f]{2}|$)/i.test(text)) note('its quoted-printable is not valid');
  const decoded = text
    .replace(/=(?:\r\n|$)/g, '')
    .replace(/=([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(decoded, 'latin1');
}

/** RFC 2046 §5.1.1 */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;

function readMultipart({ body }: Entity, type: MimeValue, place: Position, message: StrictMessage): void {
  const path = place.path === '' ? null : place.path;
  const note = (problem: string) => message.ambiguities.push({ problem, path });
  const boundary = type.parameters.get('boundary');
  if (boundary === undefined || !BOUNDARY.test(boundary)) return void note('its multipart has no valid boundary');
  if (place.boundaries.some((outer) => outer.startsWith(boundary) || boundary.startsWith(outer)))
    note('the boundary of one multipart begins with that of another');
  const { pieces, isClosed, isClear } = splitAt(body, boundary);
  if (!isClear) note(`it has a line that begins with its boundary "${boundary}" and goes on`);
  if (!isClosed) note('its multipart does not end with its boundary');
  if (pieces.length < 2 || (isClosed && pieces.length < 3)) note('its multipart has no parts');
  const [preamble, ...rest] = pieces;
  const epilogue = isClosed ? rest.pop() : undefined;
  for (const text of [preamble, epilogue])
    if (text !== undefined && text.length > 0) message.stray.push(text.toString('utf8'));
  const standard = type.value === 'multipart/digest' ? 'message/rfc822' : 'text/plain';
  const prefix = place.path === '' ? '' : `${place.path}.`;
  for (const [index, piece] of rest.entries()) {
    const child = `${prefix}${index + 1}`;
    if (message.parts.length >= MAX_PARTS) return void note(TOO_MANY);
    const inner = { path: child, depth: place.depth + 1, boundaries: [...place.boundaries, boundary], standard };
    readEntity(splitEntity(piece, child, message), inner, message);
  }
}

/** Splits a body at its delimiter lines: the preamble, the parts, and, when it is closed, the epilogue. */
function splitAt(body: Buffer, boundary: string): { pieces: Buffer[]; isClosed: boolean; isClear: boolean } {
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  const pieces: Buffer[] = [];
  let isClosed = false;
  let isClear = true;
  let from = 0;
  for (let at = body.indexOf(delimiter); at !== -1; at = body.indexOf(delimiter, at + delimiter.length)) {
    if (at !== 0 && body[at - 1] !== 0x0a) continue;
    const lineEnd = body.indexOf(LINE_END, at);
    const rest = body.toString('latin1', at + delimiter.length, lineEnd === -1 ? body.length : lineEnd);
    if (!/^(?:--)?[ \t]*$/.test(rest) || isClosed) {
      isClear = false;
      continue;
    }
    // The line end before a delimiter belongs to the delimiter.
    pieces.push(body.subarray(from, Math.max(from, at - 2)));
    from = lineEnd === -1 ? body.length : lineEnd + 2;
    isClosed = rest.startsWith('--');
  }
  pieces.push(body.subarray(from));
  return { pieces, isClosed, isClear };
}

const MAX_SHOWN_LENGTH = 60;

function shorten(text: string): string {
  const line = text.replace(/[^\x20-\x7e]+/g, ' ');
  return line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH)}…` : line;
}
