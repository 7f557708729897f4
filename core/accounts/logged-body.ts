import { REDACTED, SECRET_PARAMETER, storable } from './logged-request.ts';

/** Longest body in the log; characters. */
const MAX_BODY_LENGTH = 8_192;
/** Longest text in a body that is shortened; characters. */
const MAX_TEXT_LENGTH = 2_000;
/** Escaped quotes in one text, after which a body is not read further. */
const MAX_ESCAPES = 10_000;

/**
 * Returns a JSON body of at most MAX_BODY_LENGTH characters: long texts are cut, and files in base64 replaced by their size, so that what is
 * left is valid JSON, if that suffices. Reads no more than it returns, apart from the ends of texts. The result may contain secrets.
 */
export function shortenBody(body: string): string {
  if (body.length <= MAX_BODY_LENGTH) return body;
  const parts: string[] = [];
  let length = 0;
  const add = (part: string) => {
    parts.push(part);
    length += part.length;
  };
  let at = 0;
  let key = '';
  while (at < body.length && length < MAX_BODY_LENGTH) {
    const open = body.indexOf('"', at);
    const between = body.slice(at, Math.min(open === -1 ? body.length : open, at + MAX_BODY_LENGTH));
    add(between);
    if (open === -1) at = between.length < body.length - at ? at : body.length;
    if (open === -1) break;
    const close = endOfText(body, open + 1);
    if (close === -1) {
      add(body.slice(open, open + MAX_TEXT_LENGTH));
      break;
    }
    const isFile = between.trim() === ':' && FILE_KEYS.has(key);
    add(isFile ? `"${fileSize(body, open + 1, close)}"` : `"${cutText(body, open + 1, close)}"`);
    key = close - open < MAX_KEY_LENGTH ? body.slice(open + 1, close) : '';
    at = close + 1;
  }
  const text = parts.join('');
  const isCut = at < body.length || text.length > MAX_BODY_LENGTH;
  return isCut ? `${text.slice(0, MAX_BODY_LENGTH - 1)}…` : text;
}

const FILE_KEYS = new Set(['content', 'content_base64', 'contentBase64']);
const MAX_KEY_LENGTH = 100;

/** Returns the index of the quote that ends a text of JSON; -1 when it is not found. */
function endOfText(body: string, from: number): number {
  for (let at = body.indexOf('"', from), tries = 0; at !== -1 && tries < MAX_ESCAPES; tries++) {
    let escapes = 0;
    while (body[at - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return at;
    at = body.indexOf('"', at + 1);
  }
  return -1;
}

function cutText(body: string, from: number, to: number): string {
  const length = to - from;
  if (length <= MAX_TEXT_LENGTH) return body.slice(from, to);
  // An escape sequence is not cut.
  const whole = body.slice(from, from + MAX_TEXT_LENGTH).replace(/\\u[0-9a-fA-F]{0,3}$/, '');
  const escapes = /\\*$/.exec(whole)?.[0].length ?? 0;
  const kept = escapes % 2 === 0 ? whole : whole.slice(0, -1);
  return `${kept}… [${length.toLocaleString('en')} characters]`;
}

function fileSize(body: string, from: number, to: number): string {
  const head = /^data:[^,]{0,100},/.exec(body.slice(from, from + 110))?.[0].length ?? 0;
  const padding = body.endsWith('==', to) ? 2 : body[to - 1] === '=' ? 1 : 0;
  return sizeInWords(Math.max(0, Math.floor(((to - from - head) * 3) / 4) - padding));
}

/** Returns the text that replaces bytes that are not logged. */
export function sizeInWords(bytes: number): string {
  return `[${bytes.toLocaleString('en')} bytes]`;
}

/**
 * Returns a body as it is logged: shortened, without passwords, tokens and other secrets, and with the sizes of files instead of their content.
 * It works on the text, so that it also covers JSON within texts of JSON (MCP), GraphQL documents, and bodies that are not valid.
 */
export function loggedBody(body: string): string {
  const text = withoutNamedSecrets(
    shortenBody(body).replace(FILE, (_match, before: string, plain?: string, quote = '"', escaped: string = '') => {
      const file = plain ?? escaped;
      const size = /^\[[\d,]+ bytes\]$/.test(file) ? file : fileSize(file, 0, file.length);
      return `${before}${quote}${size}${quote}`;
    }),
  )
    .replace(SECRET_PARAMETER, `$1${REDACTED}`)
    .replace(SECRET_TEXT, (_match, chat = '', scheme?: string, before = '') =>
      scheme === undefined ? `${chat}${before}${REDACTED}` : `${scheme}${REDACTED}@`,
    );
  return storable(text.length > MAX_BODY_LENGTH ? text.slice(0, MAX_BODY_LENGTH) : text);
}

/** Looks for names only in a text that has a part of one: it costs more than all the rest, and most bodies have none. */
function withoutNamedSecrets(text: string): string {
  if (!PART_OF_SECRET_NAME.test(text)) return text;
  const redact = (_match: string, before: string, _plain?: string, quote = '"') =>
    `${before}${quote}${REDACTED}${quote}`;
  return text.replace(SECRET, redact).replace(SECRET_PAIR, redact);
}

/** A text of JSON, or one within a text of JSON, whose quotes are escaped and which ends at the next quote with as many backslashes. */
const TEXT = String.raw`(?:"((?:[^"\\]|\\.)*)(?:"|$)|(\\+")([\s\S]*?)(?:(?<!\\)\3|$))`;
const FILE = new RegExp(String.raw`(\\*"content(?:_?base64)?\\*"\s*:\s*)${TEXT}`, 'gi');

const SECRET_NAME = String.raw`(?<![\w-])[\w-]{0,40}?(?:(?:secret|password|passwd)[\w-]*|token|authorization|cookie|api[-_]?keys?|private[-_]?key|credential)(?![\w-])`;
/** What each SECRET_NAME has in it. */
const PART_OF_SECRET_NAME = /secret|passw|token|authorization|cookie|api[-_]?key|private[-_]?key|credential/i;
const SECRET = new RegExp(String.raw`(${SECRET_NAME}(?:\\*")?\s*:\s*)${TEXT}`, 'gi');

/** A header as `{"name":"X-Api-Key","value":"…"}`. */
const SECRET_PAIR = new RegExp(
  String.raw`(name(?:\\*")?\s*:\s*\\*"${SECRET_NAME}\\*"\s*,\s*(?:\\*")?value(?:\\*")?\s*:\s*)${TEXT}`,
  'gi',
);

/** Signing secrets of webhooks, credentials of an Authorization header or of a URL, and URLs that post to a chat. */
const SECRET_TEXT =
  /(https:\/\/(?:hooks\.slack\.com|(?:\w+\.)?discord(?:app)?\.com)\/)[^\s"'<>\\]+|(\w:\/\/)[^\s"'<>\\/@]+@|whsec_[A-Za-z0-9+/=_-]+|\b((?:Bearer|Basic) +)[A-Za-z0-9+/=_.~-]{8,}/g;
