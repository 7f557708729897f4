import {
  endOfFieldBlock,
  fieldOf,
  fieldsInside,
  isDateField,
  isField,
  isRawField,
  isSentField,
} from './quoted-fields.ts';
import {
  DEVICES,
  DISCLAIMER_STARTS,
  DISCLAIMER_WORDS,
  FORWARD_WORDS,
  PROGRAM_SIGNATURES,
  QUOTE_TITLES,
  REPLY_ABOVE,
  WROTE,
  WROTE_LEADS,
} from './reply-words.ts';

/** What a line of a message is: typed by its author, quoted, or of a signature. */
export type Fate = 'kept' | 'quote' | 'signature';

/** A line as its reader sees it. */
export interface Line {
  text: string;
  /** without marks of writing direction, trimmed; empty for lines that are too long to introduce anything */
  short: string;
  isBlank: boolean;
  /** what the HTML of the message says about the line */
  mark: LineMark | null;
}

/**
 * `quote`: quoted by a mail program; `block`: indented, which is quoted only below an introduction; `introduction`: introduces a quotation;
 * `onwards`: a quoted message begins here; `signature`: of a signature.
 */
export type LineMark = 'quote' | 'block' | 'introduction' | 'onwards' | 'signature';

/** Returns a line; white space around it does not matter. */
export function lineOf(text: string, mark: LineMark | null): Line {
  const trimmed = text.trim();
  const short = text.length > MAX_LINE_LENGTH ? '' : trimmed.replace(INVISIBLE, '').trim();
  return { text, short, isBlank: trimmed === '', mark };
}

const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/**
 * Returns the characters before an introduction in the same line, as in `Yes. On Wed, Apr 4, 2012, ann@example.com wrote:`; programs that
 * lose line breaks make such lines. Zero if there are none.
 */
export function ownLengthOf(line: string): number {
  return line.length > MAX_LINE_LENGTH || /^\s*[>＞|]/u.test(line) ? 0 : (SHARED_LINE.exec(line)?.index ?? 0);
}

const SHARED_LINE =
  /(?:\s|-{2,}\s?)On (?:\p{L}{2,9}[,.]? )?(?:\p{L}{3,9}\.? \d{1,2}|\d{1,2} \p{L}{3,9}\.?),? \d{4}[, ].*(?:wrote:|<[^<>]*)$/u;

/**
 * Returns whether a text announces a forwarded message, with its own title and without quoted mail above it: what is below belongs to the
 * message, although its subject does not say so.
 */
export function announcesForward(text: string): boolean {
  for (const line of text.split('\n')) {
    const short = line.length > MAX_LINE_LENGTH ? '' : line.trim();
    if (/^[>＞]/u.test(short)) return false;
    if (short.length <= MAX_TITLE_LENGTH && QUOTE_TITLE_LINE.test(short)) return FORWARD_WORD.test(short);
  }
  return false;
}

const FORWARD_WORD = new RegExp(FORWARD_WORDS, 'iu');

/** Returns what each line is, in linear time. All may be quoted or signatures. */
export function fatesOf(lines: readonly Line[]): readonly Fate[] {
  const reader = new ReplyReader(lines);
  reader.read();
  return reader.fates;
}

/** Maximum characters of a line that introduces a quotation or a signature. */
const MAX_LINE_LENGTH = 300;
/** Lines that such an introduction takes, and characters. */
const MAX_INTRODUCTION_LINES = 6;
const MAX_INTRODUCTION_LENGTH = 600;
/** Own lines below a quotation that count as a footer when its author wrote above it, too. */
const MAX_FOOTER_LINES = 6;
/** Lines below a separator that mailing lists add. */
const MAX_LIST_FOOTER_LINES = 4;
/** Lines of the fields above quoted mail. */
const MAX_FIELD_LINES = 40;
const MAX_SIGNATURE_LINES = 12;
const MAX_DISCLAIMER_LINES = 30;

const MAX_TITLE_LENGTH = 90;
/** Characters of a quoted line that was wrapped, of others in the same text, and words of its rest. */
const MIN_WRAPPED_LENGTH = 40;
const MIN_REST_LENGTH = 20;
const MAX_REST_WORDS = 5;

const WROTE_WORD = new RegExp(`(?<!\\p{L})(?:${WROTE})`, 'iu');
const LEAD = new RegExp(`^\\W{0,4}(?:${WROTE_LEADS})(?![\\p{L}]{2}).*\\p{Nd}`, 'u');
const DATE =
  /(?<![a-z\p{Nd}])\p{Nd}{4}(?!\p{Nd})|\p{Nd}{1,2}[./-]\p{Nd}{1,2}[./-]|\p{Nd}{1,2}[:.h]\p{Nd}{2}(?!\p{Nd})|\p{Nd}月|\p{Nd}월/iu;
const EARLY_DATE =
  /^.{0,40}?(?:(?<![a-z\p{Nd}])\p{Nd}{4}(?!\p{Nd})|\p{Nd}{1,2}[./-]\p{Nd}{1,2}[./-]\p{Nd}|\p{Nd}{1,2}:\p{Nd}{2}|\p{Nd}{1,2}\.? \p{L}{3,})/iu;
const NAME_AND_ADDRESS = /^(?!mailto:)[^<>@]{1,80}<[^<>\s]{1,120}@[^<>\s]{1,120}>/u;
const ADDRESS = /@[\p{L}\p{N}]/u;
const ADDRESS_END = /<[^<>]{0,80}@[^<>\s]{1,120}>[:：\s>)*"'’]{0,4}$/u;
/** The end of a line that introduces a quotation. */
const INTRODUCTION_END = /[:：]\W{0,3}$|>$|-{2,}$/u;
const BRACKETED_ADDRESS = /[<([][^<>()[\]\s@]{1,64}@[^<>()[\]\s]{1,200}[>)\]]/u;
const YEAR_AND_TIME = /(?<!\p{Nd})\p{Nd}{4}(?!\p{Nd}).{0,60}?(?<!\p{Nd})\p{Nd}{1,2}[:.]\p{Nd}{2}/u;
/** The end of an introduction without a colon. */
const WROTE_END = new RegExp(`(?<!\\p{L})(?:${WROTE})$`, 'iu');
/** Characters of an introduction that is known by its date and address. */
const MAX_ATTRIBUTION_LENGTH = 200;
/** GroupWise: `>>> Ann <ann@example.com> 1/6/2026 10:11 AM >>>`. */
const GROUPWISE = /^>>>\s[^>].{1,150}\p{Nd}{1,2}[:.]\p{Nd}{2}.{0,20}>>>$/u;
/** Gnus: `>>>>> "Ann" == Ann Smith <ann@example.com> writes:`. */
const SUPERCITE = /^>{2,}\s?"[^"]{1,60}" == .{1,150}[:：]$/u;
const NOTES_NAME = /^\p{L}[\p{L} .'-]{1,60}(?:\/[\p{L}\p{N} .-]{1,40}){1,4}(?:@[\p{L}\p{N}.-]{1,40})?$/u;
const MAX_NOTES_LINES = 12;
const REPLY_ABOVE_LINE = new RegExp(`^[\\W_]{0,12}(?:please )?.{0,30}(?:${REPLY_ABOVE}).{0,30}$`, 'iu');
const QUOTE_TITLE_LINE = new RegExp(
  `^[*_\\s]*(?:[-=_]{2,}[\\s*]*(?:${QUOTE_TITLES})[\\s*]*[-=_]{2,}|(?:begin|anfang|début|inicio|inizio|início|start på|начало).{1,60}[:：])[*_\\s]*$`,
  'iu',
);
const DASHED_TITLE = /^[*\s]*[-=_]{3,}\s*[\p{L}][\p{L}\s.'’]{2,60}[-=_]{3,}[*\s]*$/u;
/** `----- Forwarded by Ann on 01/06/2026 10:11 AM -----` */
const DATED_TITLE = /^[-=_]{3,}\s?\p{L}.{5,70}[-=_]{3,}$/u;
const NAMELESS_TITLE = new RegExp(`^[*_\\s-]*(?:${QUOTE_TITLES})[*_\\s-]*[:：]?[*_\\s-]*$`, 'iu');
const PROGRAM_SIGNATURE = new RegExp(`^[\\W_]{0,4}(?:${PROGRAM_SIGNATURES.join('|')})[\\W_]{0,4}$`, 'iu');
const DEVICE = new RegExp(`(?:${DEVICES})`, 'iu');
const DISCLAIMER = new RegExp(`^\\W{0,4}${DISCLAIMER_STARTS}`, 'iu');
const DISCLAIMER_WORD = new RegExp(DISCLAIMER_WORDS, 'iu');
const SEPARATOR = /^(?:[-_=+*~#•–—]\s?){2,}$/u;
const LONG_SEPARATOR = /^[-_=*~–—]{5,}$/u;
/** A mark that some programs add to measure openings. */
const TRACKER = /^[\u1427\u180e\u2800]+$/u;
/** `JD> ` and `Richard> `: initials or a name before each quoted line. */
/** A link that ends on the next line, with `>`. */
const OPEN_LINK = /^[^>].*<(?:https?:|mailto:)[^<>\s]*$|^<(?:https?:|mailto:)[^<>\s]*$/iu;
const OPEN_BRACKET = /[(<]https?:[^\s()<>]*$/iu;
const CLOSING_BRACKET = /^[^\s()<>]+[)>]\W*$/u;
const LINK_ALONE = /^\W{0,2}https?:\S+\s?\W{0,2}$/iu;
const NAMED_QUOTE = /^\s{0,8}[\p{L}][\p{L}.'-]{0,15}>/u;
const OWN_MARK = /^\s{0,4}([|):}%+=!])(?:\s|$)/u;
const INITIALS_QUOTE = /^\s{0,3}\p{Lu}{1,3}>/u;
const GREETING = /^\S.{0,50}[,，]$/u;

/** Lines that introduce quoted mail, and what they announce. */
interface Introduction {
  from: number;
  to: number;
  /** `wrote`: that someone wrote the next lines; `fields`: a whole message to the end of the text */
  kind: 'wrote' | 'fields';
}

const NO_LINE: Line = { text: '', short: '', isBlank: true, mark: null };

class ReplyReader {
  readonly fates: Fate[];
  readonly #lines: readonly Line[];
  readonly #isQuoted: boolean[];
  readonly #isCode: boolean[];
  readonly #introductions: Introduction[];
  readonly #isIntroduction: boolean[];

  constructor(lines: readonly Line[]) {
    this.#lines = lines;
    this.fates = lines.map(({ mark }) => (mark === 'signature' ? 'signature' : 'kept'));
    this.#isCode = fencedLines(lines);
    this.#isQuoted = lines.map(
      ({ text, mark }, at) =>
        mark === 'quote' ||
        (this.#isCode[at] !== true && /^\s{0,3}[>＞]/u.test(text) && !OPEN_LINK.test(this.#line(at - 1).short)),
    );
    this.#quoteWrappedLinks();
    this.#quoteLostMarks();
    this.#introductions = this.#findIntroductions();
    this.#isIntroduction = lines.map(() => false);
    for (const { from, to } of this.#introductions) this.#isIntroduction.fill(true, from, to + 1);
  }

  read(): void {
    this.#removeSignatures();
    this.#removeBelowDevice();
    this.#removeQuotations();
    this.#removeEnd();
  }

  /**
   * What is below the line of a telephone is the message that its author replied to, if there is text above the line and nothing else
   * tells where the message begins.
   */
  #removeBelowDevice(): void {
    let last = this.#lines.length - 1;
    while (last >= 0 && this.#line(last).isBlank) last--;
    let isAbove = false;
    for (let at = 0; at < last; at++) {
      if (isAbove && this.#isDeviceLine(at)) {
        const isMarked = this.#isQuoted.includes(true, at) || this.#isIntroduction.includes(true, at);
        if (isMarked) return;
        this.#remove('signature', at, at + 1);
        return this.#remove('quote', at + 1, this.#lines.length);
      }
      isAbove ||= this.#isOwn(at);
    }
  }

  /** `Sent from my iPhone`, as a paragraph. */
  #isDeviceLine(at: number): boolean {
    const { short } = this.#line(at);
    if (short.length > MAX_TITLE_LENGTH || !this.#isOwn(at) || !PROGRAM_SIGNATURE.test(short)) return false;
    if (/^(?!iP)\p{Ll}|[:：,]$/u.test(short) || !DEVICE.test(short)) return false;
    return this.#line(at - 1).isBlank && this.#line(at + 1).isBlank;
  }

  #line(at: number): Line {
    return this.#lines[at] ?? NO_LINE;
  }

  /** A long link within a quotation may be alone on a line, or end on one, without a `>`. */
  #quoteWrappedLinks(): void {
    for (let at = 1; at + 1 < this.#lines.length; at++) {
      if (this.#isQuoted[at - 1] !== true || this.#isQuoted[at] === true || this.#isQuoted[at + 1] !== true) continue;
      const { short } = this.#line(at);
      const isRest = OPEN_BRACKET.test(this.#line(at - 1).short) && CLOSING_BRACKET.test(short);
      if (isRest || LINK_ALONE.test(short)) this.#isQuoted[at] = true;
    }
  }

  /** Programs that wrap quoted lines again leave the rest of a line without a `>`. */
  #quoteLostMarks(): void {
    const rests: number[] = [];
    let isSure = false;
    for (let at = 1; at + 1 < this.#lines.length; at++) {
      if (this.#isQuoted[at - 1] !== true || this.#isQuoted[at] === true || this.#isQuoted[at + 1] !== true) continue;
      const above = this.#line(at - 1).short;
      const { short, isBlank } = this.#line(at);
      const isRest =
        /^\p{Ll}/u.test(short) || (short.length < above.length && short.split(' ').length <= MAX_REST_WORDS);
      if (isBlank || !isRest || above.length < MIN_REST_LENGTH || /[.!?:;。！？：]$/u.test(above)) continue;
      isSure ||= above.length >= MIN_WRAPPED_LENGTH;
      rests.push(at);
    }
    if (isSure) for (const at of rests) this.#isQuoted[at] = true;
  }

  #remove(kind: Fate, from: number, end: number): void {
    for (let at = from; at < end; at++) if (this.fates[at] === 'kept') this.fates[at] = kind;
  }

  /** Whether the line is text that may be the author's. */
  #isOwn(at: number): boolean {
    return (
      this.fates[at] === 'kept' &&
      this.#isQuoted[at] !== true &&
      this.#isIntroduction[at] !== true &&
      !this.#line(at).isBlank
    );
  }

  /** Whether a quotation may begin in this line, with `>`, indented or a mark of its own. */
  #isQuoteLike(at: number): boolean {
    return (
      this.#isQuoted[at] === true ||
      this.#line(at).mark === 'block' ||
      ownMarkOf(this.#line(at).text, this.#line(at + 1).text) !== null
    );
  }

  #nextNonBlank(from: number): number {
    let at = from;
    while (at < this.#lines.length && this.#line(at).isBlank) at++;
    return at;
  }

  #findIntroductions(): Introduction[] {
    const found: Introduction[] = [];
    let free = 0;
    for (let at = 0; at < this.#lines.length; at++) {
      if (this.#isCode[at] === true) continue;
      const introduction =
        this.#fieldsAt(at, free) ??
        this.#blockAt(at) ??
        this.#titleAt(at) ??
        this.#markedAt(at) ??
        this.#wroteAt(at, free);
      if (introduction === null) continue;
      const last = found.at(-1);
      // A wrapped line that was taken for one of its own.
      if (last !== undefined && last.to >= introduction.from) found.pop();
      found.push(introduction);
      free = introduction.to + 1;
      at = introduction.to;
    }
    return found;
  }

  #titleAt(at: number): Introduction | null {
    const { short, mark } = this.#line(at);
    if (SUPERCITE.test(short)) return { from: at, to: at, kind: 'wrote' };
    if (this.#isNotesHeading(at)) return { from: at, to: at, kind: 'fields' };
    if (mark === 'onwards' || GROUPWISE.test(short) || REPLY_ABOVE_LINE.test(short))
      return { from: at, to: at, kind: 'fields' };
    if (this.#isQuoted[at] === true || short === '' || short.length > MAX_TITLE_LENGTH) return null;
    const isTitle =
      QUOTE_TITLE_LINE.test(short) ||
      (DATED_TITLE.test(short) && DATE.test(short)) ||
      (DASHED_TITLE.test(short) && this.#isFieldAt(this.#nextNonBlank(at + 1))) ||
      (NAMELESS_TITLE.test(short) && this.#fieldsAt(this.#nextNonBlank(at + 1), at + 1) !== null);
    return isTitle ? { from: at, to: at, kind: 'fields' } : null;
  }

  /** Notes: `Ann Smith/HQ/Example`, the date, and `To` and `Subject` alone on lines. */
  #isNotesHeading(at: number): boolean {
    if (!NOTES_NAME.test(this.#line(at).short) || !DATE.test(this.#line(at + 1).short)) return false;
    const names = this.#lines.slice(at + 2, at + MAX_NOTES_LINES).map(({ short }) => fieldOf(`${short}:`));
    return names.includes('to') && names.includes('subject');
  }

  #isFieldAt(at: number): boolean {
    return fieldOf(this.#line(at).short) !== null || endOfFieldBlock(this.#lines, at) !== null;
  }

  /** The fields of a message in a language that the reader does not know, below a blank line or a separator. */
  #blockAt(at: number): Introduction | null {
    const above = this.#line(at - 1);
    if (at === 0 || this.#isQuoted[at] === true || !(above.isBlank || SEPARATOR.test(above.short))) return null;
    const to = endOfFieldBlock(this.#lines, at);
    if (to === null || this.#isRawHeader(at, to)) return null;
    const from = SEPARATOR.test(above.short) ? at - 1 : at;
    return { from, to, kind: this.#isQuoteLike(this.#nextNonBlank(to + 1)) ? 'wrote' : 'fields' };
  }

  #markedAt(at: number): Introduction | null {
    if (this.#line(at).mark !== 'introduction') return null;
    let to = at;
    while (this.#line(to + 1).mark === 'introduction') to++;
    return { from: at, to, kind: 'wrote' };
  }

  /** At least three of From, Date, To and Subject, two below a separator. Values may take more lines. */
  #fieldsAt(at: number, free: number): Introduction | null {
    if (this.#isQuoted[at] === true || fieldOf(this.#line(at).short) === null) return null;
    const fields = new Set<string>();
    // Tickets and invitations have From, To and Date, too.
    let isOfMail = false;
    let to = at;
    for (let next = at; next < this.#lines.length && next - to <= 3 && next - at < MAX_FIELD_LINES; next++) {
      const { short, isBlank } = this.#line(next);
      const field = this.#isQuoted[next] === true ? null : fieldOf(short);
      if (isBlank && next - to > 1) break;
      if (field === null) continue;
      if (fields.has(field) && field !== 'other') break;
      fields.add(field);
      for (const inside of fieldsInside(short)) fields.add(inside);
      isOfMail ||= field === 'subject' || ADDRESS.test(short) || isSentField(short);
      to = next;
    }
    let from = at;
    while (from > free && from > at - 3 && (this.#line(from - 1).isBlank || SEPARATOR.test(this.#line(from - 1).short)))
      from--;
    while (this.#line(from).isBlank && from < at) from++;
    // La Poste: `Message du 06/01/26 10:11` above the fields.
    if (from === at && at > free && fields.size > 2 && this.#isDateHeading(at - 1)) {
      from--;
      fields.add('date');
    }
    if (!fields.has('subject') && this.#isOtherField(to + 1)) return null;
    if (!isOfMail || this.#isRawHeader(at, to)) return null;
    fields.delete('other');
    const isQuoteNext = this.#isQuoteLike(this.#nextNonBlank(to + 1));
    const isApart = from < at || isQuoteNext;
    const isSent = isApart || isDateField(this.#line(at).short);
    if (!isApart && !fields.has('date')) return null;
    if (fields.size < (from < at && isQuoteNext ? 1 : isSent ? 2 : 3)) return null;
    return { from, to, kind: isQuoteNext ? 'wrote' : 'fields' };
  }

  #isDateHeading(at: number): boolean {
    const { short } = this.#line(at);
    return (
      short.length <= MAX_TITLE_LENGTH && this.#line(at - 1).isBlank && /\p{Nd}{1,2}:\p{Nd}{2}\W{0,2}$/u.test(short)
    );
  }

  /** Whether the line is a field that no message has: parcels and journeys have From, To and Sent, too. */
  #isOtherField(at: number): boolean {
    return isField(this.#line(at).short) && fieldOf(this.#line(at).short) === null;
  }

  /** Whether these fields are of a header section as servers write it, which reports contain, and no mail program above quoted mail. */
  #isRawHeader(from: number, to: number): boolean {
    for (let at = from - 1; at <= to + 3; at++) if (isRawField(this.#line(at).short)) return true;
    return false;
  }

  /** Whether the line may end an introduction without a colon: above a quotation or a blank line, and without the end of a sentence. */
  #endsOpen(at: number): boolean {
    const { short } = this.#line(at);
    if (!WROTE_WORD.test(short) || /[.!?;,。！？]$/u.test(short)) return false;
    return this.#isQuoteLike(this.#nextNonBlank(at + 1)) || (this.#line(at + 1).isBlank && WROTE_END.test(short));
  }

  /** `On Monday Ann <ann@example.com> wrote:`, in one line or several, of which `at` is the last. */
  #wroteAt(at: number, free: number): Introduction | null {
    const last = this.#line(at);
    if (!INTRODUCTION_END.test(last.short) && !GMT_LINE.test(last.short) && !this.#endsOpen(at)) return null;
    // `> wrote:` is the end of `<ann@example.com\n> wrote:`.
    const isTail = /^>\s?(?:\p{L}.{0,40})?[:：]$/u.test(last.short) && ADDRESS.test(this.#line(at - 1).short);
    if (this.#isQuoted[at] === true && !isTail) return null;
    if (WROTE_TAIL.test(this.#line(at + 1).short)) return null;
    const next = this.#nextNonBlank(at + 1);
    const isQuoteNext = this.#isQuoteLike(next);
    let joined = '';
    let alone: number | null = null;
    for (let from = at; from >= free && at - from < MAX_INTRODUCTION_LINES; from--) {
      const { short, isBlank } = this.#line(from);
      if (isBlank ? this.#line(from + 1).short !== '<' : short === '' || (from < at && this.#isQuoted[from] === true))
        break;
      joined = `${short} ${joined}`.trimEnd();
      if (joined.length > MAX_INTRODUCTION_LENGTH) break;
      if (!introduces(joined, isQuoteNext, this.#line(at + 1).isBlank && this.#line(from - 1).isBlank)) continue;
      const isBegin =
        LEAD.test(short) || EARLY_DATE.test(short) || NAME_AND_ADDRESS.test(short) || short.startsWith('--');
      const isNameAbove = !ADDRESS.test(joined) && from > free && NAME_AND_ADDRESS.test(this.#line(from - 1).short);
      if (isBegin && !isNameAbove)
        return { from: this.#isDateAlone(from - 1, free) ? from - 1 : from, to: at, kind: 'wrote' };
      if (from === at) alone = at;
    }
    return alone === null ? null : { from: alone, to: at, kind: 'wrote' };
  }

  /** Becky!: `On Tue, 6 Jan 2026 10:11:12 +0900` above the name. */
  #isDateAlone(at: number, free: number): boolean {
    const { short } = this.#line(at);
    return at >= free && this.#line(at - 1).isBlank && LEAD.test(short) && DATE.test(short) && /\p{Nd}$/u.test(short);
  }

  /** What follows `--` to the end or to quoted mail, if it is short; below quoted mail also what follows a longer separator. */
  #removeSignatures(): void {
    const hasQuote = this.#introductions.length > 0 || this.#isQuoted.includes(true);
    const onwards = new Set(this.#introductions.filter(({ kind }) => kind === 'fields').map(({ from }) => from));
    // What is below: quoted mail, or what was removed.
    let foreign = this.#lines.length;
    let isEnd = true;
    let below = 0;
    for (let at = this.#lines.length - 1; at >= 0; at--) {
      const { short, isBlank } = this.#line(at);
      if (this.#isQuoted[at] === true || this.#isIntroduction[at] === true) {
        foreign = at;
        isEnd = false;
        below = 0;
        continue;
      }
      if (isBlank) continue;
      const isCode = this.#isCode[at] === true;
      const isSignature = !isCode && short === '--' && below <= MAX_SIGNATURE_LINES;
      // Also above the fields of a quoted message.
      const isAtEnd = isEnd || (below > 0 && onwards.has(foreign));
      const isFooter = !isCode && hasQuote && isAtEnd && LONG_SEPARATOR.test(short) && below <= MAX_LIST_FOOTER_LINES;
      if (isSignature || isFooter) {
        this.#remove('signature', at, foreign);
        foreign = at;
        below = 0;
      } else below++;
    }
  }

  #removeQuotations(): void {
    const count = this.#lines.length;
    const ownFrom = Array.from({ length: count + 1 }, () => 0);
    let lastForeign = -1;
    for (let at = count - 1; at >= 0; at--) {
      ownFrom[at] = (ownFrom[at + 1] ?? 0) + (this.#isOwn(at) ? 1 : 0);
      const isForeign = this.#isQuoted[at] === true || this.#isIntroduction[at] === true;
      if (isForeign && lastForeign < 0 && this.fates[at] === 'kept') lastForeign = at;
    }
    const total = ownFrom[0] ?? 0;
    let begin = 0;
    for (const { from, to, kind } of this.#introductions) {
      if (from < begin || this.fates[from] !== 'kept') continue;
      const before = total - (ownFrom[from] ?? 0);
      const next = this.#nextNonBlank(to + 1);
      const isQuoteNext = next < count && this.#isQuoteLike(next);
      if (!isQuoteNext) {
        if (before > 0) return this.#remove('quote', from, count);
        this.#remove('quote', from, to + 1);
        continue;
      }
      const end = this.#endOfQuotation(next);
      const own = ownFrom[end] ?? 0;
      const isFooter = own <= MAX_FOOTER_LINES && lastForeign < end && !this.#isGreeting(from);
      if (own === 0 && before === 0) return;
      if (before > 0 && (own === 0 || kind === 'fields' || isFooter)) return this.#remove('quote', from, count);
      this.#remove('quote', from, before === 0 ? end : to + 1);
      begin = end;
    }
  }

  /** The first own line behind a quotation that begins in this line. */
  #endOfQuotation(start: number): number {
    const { text } = this.#line(start);
    for (let at = start; this.#line(at).mark === 'block'; at++) this.#isQuoted[at] = true;
    const mark = this.#isQuoted[start] === true ? null : ownMarkOf(text, this.#line(start + 1).text);
    if (mark !== null)
      for (let at = start; at < this.#lines.length; at++)
        if (this.#line(at).text.trimStart().startsWith(mark)) this.#isQuoted[at] = true;
        else if (!this.#line(at).isBlank) break;
    let at = start;
    while (at < this.#lines.length && !this.#isOwn(at)) at++;
    return at;
  }

  /** Whether nothing but a greeting stands above this line. */
  #isGreeting(before: number): boolean {
    let greetings = 0;
    for (let at = before - 1; at >= 0; at--) {
      if (!this.#isOwn(at)) continue;
      if (++greetings > 1 || !GREETING.test(this.#line(at).short)) return false;
    }
    return greetings === 1;
  }

  /** Quotations, separators, signatures of programs and disclaimers below the last own line. */
  #removeEnd(): void {
    let at = this.#lines.length - 1;
    const first = this.#lines.findIndex((_, line) => this.#isOwn(line));
    const hasForeign = this.#introductions.length > 0 || this.#isQuoted.includes(true);
    for (; at > first; at--) {
      const { short, text, isBlank } = this.#line(at);
      if (this.fates[at] !== 'kept' || isBlank) continue;
      if (this.#isCode[at] === true) return;
      if (this.#isQuoted[at] === true || this.#isIntroduction[at] === true) this.#remove('quote', at, at + 1);
      else if (hasForeign && INITIALS_QUOTE.test(text)) this.#remove('quote', at, at + 1);
      else if (PROGRAM_SIGNATURE.test(short) || TRACKER.test(short) || (SEPARATOR.test(short) && this.#isLast(at)))
        this.#remove('signature', at, at + 1);
      else {
        const from = this.#disclaimerAt(at);
        if (from <= first) return;
        this.#remove('signature', from, at + 1);
      }
    }
  }

  /** Whether what followed this line was removed. */
  #isLast(at: number): boolean {
    const next = this.#nextNonBlank(at + 1);
    return next < this.#lines.length && this.fates[next] !== 'kept';
  }

  /** The first line of the disclaimer that ends in this line; -1: it is none. */
  #disclaimerAt(end: number): number {
    let paragraph = '';
    for (let at = end; at >= 0 && end - at < MAX_DISCLAIMER_LINES; at--) {
      const { text, isBlank } = this.#line(at);
      if (isBlank || this.fates[at] !== 'kept') return -1;
      paragraph = `${text.slice(0, 2_000)} ${paragraph}`.slice(0, 8_000);
      if (
        DISCLAIMER.test(text.slice(0, 200)) &&
        (at === 0 || this.#line(at - 1).isBlank || SEPARATOR.test(this.#line(at - 1).short))
      )
        return DISCLAIMER_WORD.test(paragraph) && paragraph.length > 80 ? at : -1;
    }
    return -1;
  }
}

/** The last line of an introduction that was wrapped. */
const WROTE_TAIL = new RegExp(`^(?:>\\s?)?(?:${WROTE})\\W{0,3}[:：]$`, 'iu');
/** Yahoo and old Gmail: `2016-03-03 17:21 GMT+01:00 Ann`. */
const GMT_LINE = /^\p{Nd}{4}-\p{Nd}{2}-\p{Nd}{2} \p{Nd}{1,2}:\p{Nd}{2} GMT[+-]\p{Nd}{2}:\p{Nd}{2} \S/u;

/** The mark before each line of a quotation without `>`: `|`, `)`, `JD>`; null: it is none. */
function ownMarkOf(text: string, next: string): string | null {
  const named = NAMED_QUOTE.exec(text)?.[0].trimStart();
  if (named !== undefined) return named;
  const mark = OWN_MARK.exec(text)?.[1] ?? null;
  return mark !== null && (mark === '|' || next.trim() === '' || next.trimStart().startsWith(mark)) ? mark : null;
}

/** Whether one to some lines, joined, say who wrote what follows. `isApart`: they are a paragraph. */
function introduces(joined: string, isQuoteNext: boolean, isApart: boolean): boolean {
  if (GMT_LINE.test(joined) && joined.length < 120) return true;
  const hasDate = DATE.test(joined);
  const hasAddress = ADDRESS.test(joined);
  const isOpen = /[:：]\W{0,3}$/u.test(joined) || /-{2,}$/u.test(joined);
  const isWrote = WROTE_WORD.test(joined);
  if (isOpen && isWrote) return hasDate || hasAddress || isQuoteNext;
  const isShort = joined.length <= MAX_ATTRIBUTION_LENGTH;
  if (isOpen && isQuoteNext && isShort && (hasAddress || (hasDate && EARLY_DATE.test(joined)))) return true;
  // In a language that the reader does not know, or without a colon.
  const isFull = hasDate && isShort && BRACKETED_ADDRESS.test(joined);
  if (isFull && isApart && isOpen) return YEAR_AND_TIME.test(joined);
  if (isFull && isApart && isWrote && (WROTE_END.test(joined) || ADDRESS_END.test(joined))) return LEAD.test(joined);
  if (isQuoteNext && isWrote && hasDate && isShort && LEAD.test(joined)) return true;
  if (isQuoteNext && isWrote && hasAddress && hasDate && isShort) return true;
  return hasDate && EARLY_DATE.test(joined) && ADDRESS_END.test(joined) && (isOpen || isQuoteNext);
}

/** Lines between two lines of ```. */
function fencedLines(lines: readonly Line[]): boolean[] {
  const fences = lines.flatMap((line, at) => (/^\s{0,3}(?:```|~~~)/u.test(line.text) ? [at] : []));
  const fenced = lines.map(() => false);
  for (let pair = 0; pair + 1 < fences.length; pair += 2) fenced.fill(true, fences[pair], (fences[pair + 1] ?? 0) + 1);
  return fenced;
}
