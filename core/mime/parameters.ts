import { decodeCharset, decodeRawText } from '../shared/text.ts';
import { decodeEncodedWords, escapeEncodedWords } from './encoded-words.ts';

/** A value with parameters (RFC 2045 §5.1, RFC 2183), as in Content-Type. Characters are bytes. */
export interface ParameterList {
  /** lower case; empty when missing */
  value: string;
  /** lower-case names, in order; quoting is removed, sections and percent encoding (RFC 2231) are not */
  parameters: [name: string, value: string][];
}

const MAX_PARAMETERS = 1_000;

/** Reads an unfolded field value. Broken values are read as far as possible; linear, never throws. */
export function parseParameters(unfolded: string): ParameterList {
  const text = unfolded.includes('(') ? dropLeadingComments(unfolded) : unfolded;
  const first = /^[^\s;,]*/.exec(text)?.[0] ?? '';
  // Seen: `Content-Disposition: filename="a.pdf"`, without the value itself.
  const value = BARE_PARAMETER.test(first) ? '' : first;
  const parameters: ParameterList['parameters'] = [];
  let at = value.length;
  while (at < text.length && parameters.length < MAX_PARAMETERS) {
    SEPARATOR.lastIndex = at;
    at += SEPARATOR.exec(text)?.[0].length ?? 0;
    NAME.lastIndex = at;
    const found = NAME.exec(text);
    if (found === null) {
      const next = text.indexOf(';', at);
      if (next === -1) break;
      at = next + 1;
      continue;
    }
    at += found[0].length;
    const name = (found[1] ?? '').toLowerCase();
    const read = text[at] === '"' ? readQuoted(text, at) : readPlain(text, at, name);
    parameters.push([name, read.value]);
    at = read.end;
  }
  return { value: value.replace(/^["']|["']$/g, '').toLowerCase(), parameters };
}

/**
 * Returns the decoded value of a parameter; null when it is missing. Sections (RFC 2231 §3) are joined by number whatever their order, and
 * only sections that are marked as encoded are percent-decoded (§4.1). An extended value replaces a plain one. Encoded words, which RFC
 * 2047 §5 does not allow here, are decoded because mail programs write them. Other bytes are UTF-8, or of the charset of the body.
 */
export function readParameter(list: ParameterList, name: string, bodyCharset: string | null): string | null {
  const plain = list.parameters.find(([given]) => given === name)?.[1] ?? null;
  const sections = readSections(list.parameters, name);
  if (sections === null) return plain === null ? null : decodeWords(plain, bodyCharset);
  const { latin1, charset, isStated } = sections;
  if (charset === null) return decodeWords(latin1, bodyCharset);
  const text =
    charset === '' ? decodeRawText(latin1, bodyCharset) : decodeCharset(Buffer.from(latin1, 'latin1'), charset);
  return isStated ? text : decodeEncodedWords(text);
}

/** Returns the boundary of a multipart type (RFC 2046 §5.1.1), each character a byte; null when it is missing. */
export function readBoundary({ parameters }: ParameterList): string | null {
  const plain = parameters.find(([name]) => name === 'boundary')?.[1];
  // White space at the end is no part of it: gateways remove and add it.
  const boundary = (plain ?? readSections(parameters, 'boundary')?.latin1 ?? '').trimEnd();
  return boundary === '' ? null : boundary;
}

/** The value of a parameter in sections (RFC 2231 §3), percent-decoded; each character is a byte. */
interface Sections {
  latin1: string;
  /** null: no section is marked as encoded; empty: none is named */
  charset: string | null;
  /** whether the first section names a charset and a language, also empty ones */
  isStated: boolean;
}

/** Joins the sections of a parameter by number, whatever their order; null when there are none. */
function readSections(parameters: ParameterList['parameters'], name: string): Sections | null {
  const sections = parameters.flatMap(([given, value]) => {
    const section = given.startsWith(`${name}*`) ? SECTION.exec(given.slice(name.length)) : null;
    return section === null
      ? []
      : [{ at: Number(section[1] ?? 0), isEncoded: section[2] === '*' || section[1] === undefined, value }];
  });
  if (sections.length === 0) return null;
  sections.sort((a, b) => a.at - b.at);
  const [first] = sections;
  const stated = first?.isEncoded === true ? /^([^'%]*)'[^']*'/s.exec(first.value) : null;
  const pieces = sections.map(({ value, isEncoded }, at) => {
    const content = at === 0 ? value.slice(stated?.[0].length ?? 0) : value;
    return isEncoded ? percentDecoded(content) : content;
  });
  const charset = sections.some(({ isEncoded }) => isEncoded) ? (stated?.[1] ?? '') : null;
  return { latin1: pieces.join(''), charset, isStated: stated !== null };
}

const SEPARATOR = /[\s;,]*/y;
/** A colon before a quoted value is taken for the equals sign. */
const NAME = /([\w!#$%&'*+.^`|~-]+)\s*(?:=|:(?=\s*"))\s*/y;
const BARE_PARAMETER = /^(?:file)?name\*?=/i;
/** `*`, `*0` and `*0*`. */
const SECTION = /^\*(?:(\d{1,6})(\*)?)?$/;
/** Parameters that follow another one without a semicolon. */
const NEXT =
  /[\s,]+(?:charset|format|delsp|type|boundary|name|filename|size|method|protocol|micalg|report-type|start)\*?\s*=/i;
/** Within quotes only quotes and backslashes are escaped: Windows programs write paths as they are. */
const QUOTED = /"([^"\\]*(?:\\[\s\S][^"\\]*)*)"/y;

function readQuoted(text: string, at: number): { value: string; end: number } {
  QUOTED.lastIndex = at;
  const quoted = QUOTED.exec(text);
  if (quoted !== null) return { value: (quoted[1] ?? '').replace(/\\(["\\])/g, '$1'), end: QUOTED.lastIndex };
  const end = text.indexOf(';', at);
  return { value: text.slice(at + 1, end === -1 ? text.length : end).trim(), end: end === -1 ? text.length : end };
}

function readPlain(text: string, at: number, name: string): { value: string; end: number } {
  const semicolon = text.indexOf(';', at);
  const whole = text.slice(at, semicolon === -1 ? text.length : semicolon);
  if (whole.length > MAX_PLAIN) return { value: whole.trim(), end: at + whole.length };
  const next = whole.search(NEXT);
  const part = next === -1 ? whole : whole.slice(0, next);
  // Names have blanks and parentheses, `report (1).pdf`; a comment behind the extension is none of the name.
  const value = /name/.test(name)
    ? part.replace(/(\.\w{1,5}) +\([^()]*\)\s*$/, '$1')
    : part.replace(/\s*\([^()]*\)\s*$/, '');
  return { value: value.trim(), end: at + part.length };
}

/** Longer values are not searched for a missing semicolon and comments. */
const MAX_PLAIN = 2_000;

/** Removes comments before the parameters, such as `text/plain (really); charset=utf-8`. */
function dropLeadingComments(text: string): string {
  const end = text.search(/[;="]/);
  const head = end === -1 ? text : text.slice(0, end);
  return head.replace(/\([^()]*\)/g, ' ').trimStart() + text.slice(head.length);
}

function decodeWords(latin1: string, bodyCharset: string | null): string {
  const hasWords = latin1.includes('=?');
  const text = decodeRawText(hasWords ? escapeEncodedWords(latin1) : latin1, bodyCharset);
  return hasWords ? decodeEncodedWords(text) : text;
}

function percentDecoded(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
