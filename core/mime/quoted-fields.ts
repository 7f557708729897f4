import { type Line, SEPARATOR } from './reply-line.ts';
import { OTHER_LABELS, QUOTED_FIELDS, SENT } from './reply-words.ts';

const FIELD_LINES = Object.entries(QUOTED_FIELDS).map(
  ([field, names]) =>
    [field, new RegExp(`^[*_\\s]{0,3}(?:${names})[*_]{0,2}\\s{0,12}[:：](?!//)[*_]{0,2}(?:\\s|$|\\S)`, 'iu')] as const,
);
const FIELDS_INSIDE = Object.entries(QUOTED_FIELDS).map(
  ([field, names]) => [field, new RegExp(`\\s(?:${names})\\s?[:：]\\s`, 'u')] as const,
);
const SENT_FIELD = new RegExp(`^[*_\\s]{0,3}(?:${SENT})[*_]{0,2}\\s{0,12}[:：]`, 'iu');
/** A date as RFC 5322 §3.3 has it. */
const DATE_FIELD = new RegExp(`^(?:${QUOTED_FIELDS.date})\\s?[:：] .*\\d{2}:\\d{2}:\\d{2} [+-]\\d{4}`, 'iu');
const RAW_FIELD =
  /^(?:received|received-spf|return-path|mime-version|content-(?:type|transfer-encoding)|dkim-signature|authentication-results|x-[\w-]{1,40})\s?:/iu;
/** A field in a table, as NetEase writes them: `| Von | Ann |`. */
const TABLE_ROW = /^\|\s?([^|]{1,30}?)\s?\|\s?([^|]{0,200}?)\s?\|?$/u;

/** Characters of the name of a field. */
const MAX_FIELD_LENGTH = 40;

/** Returns which field above quoted mail a line is, in the languages of `reply-words.ts`; null when it is none. */
export function findField(short: string): string | null {
  const line = short.startsWith('|') ? short.replace(TABLE_ROW, '$1: $2').replace(/^\|\s?/u, '') : short;
  const colon = findColon(line);
  if (colon < 1 || colon >= MAX_FIELD_LENGTH) return null;
  // `收 件 人`, and an ideographic space
  const joined = /\p{Script=Han}\s/u.test(line.slice(0, colon))
    ? `${line.slice(0, colon).replace(/(?<=\p{Script=Han})\s+(?=\p{Script=Han})/gu, '')}${line.slice(colon)}`
    : line;
  return FIELD_LINES.find(([, pattern]) => pattern.test(joined))?.[0] ?? null;
}

/** Returns where the first colon is; -1: there is none. */
function findColon(line: string): number {
  const [colon, wide] = [line.indexOf(':'), line.indexOf('：')];
  return colon === -1 || (wide !== -1 && wide < colon) ? wide : colon;
}

/** Returns the further fields in a line of which the first is From: `From: Ann Date: Monday`, as HTML without line breaks gives them. */
export function fieldsInside(short: string): string[] {
  if (findField(short) !== 'from') return [];
  const capital = short.replace(/(?<=\s)\p{Lu}\p{Ll}{1,20}(?=\s?[:：]\s)/gu, (name) => name.toLowerCase());
  const inside = FIELDS_INSIDE.flatMap(([field, pattern]) => (pattern.test(capital) ? [field] : []));
  const isOfMail = /@[\p{L}\p{N}]/u.test(short) || (inside.includes('date') && inside.includes('subject'));
  return isOfMail ? inside : [];
}

/** Returns whether fields are of a header section as servers write it, which reports contain, and no mail program above quoted mail. */
export function isRawHeader(lines: readonly Line[], from: number, to: number): boolean {
  let start = from - 1;
  while (start > 0 && from - start < MAX_FIELD_LINES && isField(lines[start]?.short ?? '')) start--;
  return lines.slice(Math.max(0, start), to + 4).some(({ short }) => isRawField(short));
}

/** Lines that the fields of a message take. */
export const MAX_FIELD_LINES = 40;

/** Returns whether a field is within two equal lines without a blank one, as settings and the front matter of pages are: `---`. */
export function isFenced(lines: readonly Line[], at: number): boolean {
  const findFence = (step: 1 | -1): string | null => {
    for (let next = at + step; Math.abs(next - at) < MAX_FIELD_LINES; next += step) {
      const { short, isBlank } = lines[next] ?? { short: '', isBlank: true };
      if (isBlank) return null;
      if (SEPARATOR.test(short)) return short;
    }
    return null;
  };
  const above = findFence(-1);
  return above !== null && above === findFence(1);
}

/** Returns whether only mails have a field of this name: `Sent`. */
export function isSentField(short: string): boolean {
  return SENT_FIELD.test(short);
}

/** Returns whether the line is a date as RFC 5322 §3.3 has it. */
export function isDateField(short: string): boolean {
  return DATE_FIELD.test(short);
}

/** Returns whether mail servers write the field, and no mail program above quoted mail. */
function isRawField(short: string): boolean {
  return RAW_FIELD.test(short);
}

/** A name of any language, and a value. */
const ANY_FIELD =
  /^[*_|\s]{0,4}(\p{L}[\p{L}\p{M} '’().-]{0,30})[*_]{0,2}\s{0,12}[:：](?!\/\/)[*_]{0,2}\s{0,12}(\S.{0,250})$/u;

/** Returns whether a line is a name and a value, whatever their meaning. */
export function isField(short: string): boolean {
  return ANY_FIELD.test(short);
}

const OTHER_LABEL = new RegExp(`^(?:${OTHER_LABELS})$`, 'iu');
/** Returns whether a line is a label of forms and signatures, and its value. */
export function isLabel(short: string): boolean {
  return OTHER_LABEL.test(ANY_FIELD.exec(short)?.[1]?.trim() ?? '');
}

const NAMED_ADDRESS =
  /^[^<>[\]@:]{1,80}(?:<(?:mailto:)?[^<>\s@]{1,64}@[^<>\s]{1,200}>|\[mailto:[^[\]\s@]{1,64}@[^[\]\s]{1,200}\])/u;
const YEAR = /(?<!\p{Nd})(?:19|20|٢٠|۲۰|२०)\p{Nd}{2}(?!\p{Nd})/u;
const TIME = /(?<!\p{Nd})\p{Nd}{1,2}[:.]\p{Nd}{2}(?!\p{Nd})/u;
/** Outlook's line above the fields; in HTML a border. */
const OUTLOOK_RULE = /^_{20,}$/u;
/** Fields of a block; one less if another one has an address, too. */
const MIN_BLOCK_FIELDS = 4;
const MAX_BLOCK_FIELDS = 8;

/**
 * Returns the last line of the fields of a message in any language that begin in a line: the first has a name and an address in brackets,
 * another has a year and a time, all have different names, none is a label of forms and signatures. Null when there are none, or too few.
 */
export function endOfFieldBlock(lines: readonly Line[], start: number): number | null {
  const first = ANY_FIELD.exec(lines[start]?.short ?? '');
  if (first === null) return null;
  if (!NAMED_ADDRESS.test(first[2] ?? '')) return endOfOutlookFields(lines, start);
  const names = new Set<string>();
  let hasDate = false;
  let addresses = 0;
  let at = start;
  for (; at < lines.length && at - start <= MAX_BLOCK_FIELDS; at++) {
    const [, name, value = ''] = ANY_FIELD.exec(lines[at]?.short ?? '') ?? [];
    if (name === undefined) break;
    const key = name.trim().toLowerCase();
    if (names.has(key) || OTHER_LABEL.test(key) || isRawField(lines[at]?.short ?? '')) return null;
    names.add(key);
    if (value.includes('@')) addresses++;
    hasDate ||= at > start && YEAR.test(value) && TIME.test(value);
  }
  const isEnd = lines[at]?.isBlank ?? true;
  const isWhole = names.size >= (addresses > 1 ? MIN_BLOCK_FIELDS - 1 : MIN_BLOCK_FIELDS);
  return isEnd && hasDate && isWhole && names.size <= MAX_BLOCK_FIELDS ? at - 1 : null;
}

/** Returns the last line of Outlook's four or five fields below its line: a name, the date, recipients and the subject; null: they are none. */
function endOfOutlookFields(lines: readonly Line[], start: number): number | null {
  const above = lines[start - 1]?.isBlank === true ? start - 2 : start - 1;
  if (!OUTLOOK_RULE.test(lines[above]?.short ?? '')) return null;
  const fields: RegExpExecArray[] = [];
  for (let at = start; at - start <= MAX_OUTLOOK_FIELDS; at++) {
    const field = ANY_FIELD.exec(lines[at]?.short ?? '');
    if (field === null) break;
    fields.push(field);
  }
  const isDated = ([, , value = '']: RegExpExecArray) => YEAR.test(value) && TIME.test(value);
  const hasLabel = fields.some(([, name = '']) => OTHER_LABEL.test(name.trim()));
  const areInOrder = fields.every((field, index) => isDated(field) === (index === 1));
  const isWhole = fields.length >= MIN_BLOCK_FIELDS && fields.length <= MAX_OUTLOOK_FIELDS;
  return isWhole && areInOrder && !hasLabel && !/\p{Nd}/u.test(fields[0]?.[2] ?? '') ? start + fields.length - 1 : null;
}

const MAX_OUTLOOK_FIELDS = 5;
