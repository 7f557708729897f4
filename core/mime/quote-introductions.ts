import {
  ADDRESS,
  DATE,
  EARLY_DATE,
  GMT_LINE,
  introduces,
  LEAD,
  MOMENT_AND_NAME,
  NAME_AND_ADDRESS,
  NAMED_MOMENT,
  WROTE_END,
  WROTE_WORD,
} from './attribution.ts';
import {
  endOfFieldBlock,
  fieldsInside,
  findField,
  isDateField,
  isFenced,
  isField,
  isLabel,
  isRawHeader,
  isSentField,
  MAX_FIELD_LINES,
} from './quoted-fields.ts';
import { findOwnMark, type Line, MAX_LINE_LENGTH, NO_LINE, SEPARATOR } from './reply-line.ts';
import { asksToReplyAbove, FRAME, isReplyPrompt } from './reply-prompts.ts';
import { BEGIN_WORDS, FORWARD_WORDS, QUOTE_TITLES, QUOTED_FIELDS, WROTE } from './reply-words.ts';

/** Lines that introduce quoted mail, and what they announce. */
export interface Introduction {
  from: number;
  to: number;
  /** `wrote`: that someone wrote the next lines; `fields`: a whole message to the end of the text */
  kind: 'wrote' | 'fields';
}

/**
 * Returns whether lines announce a forwarded message with its own title, which belongs to the message though its subject does not say so:
 * without quoted mail above it, and, with `isReply`, because the subject says that it replies, above all else.
 */
export function announcesForward(lines: Iterable<string>, isReply: boolean): boolean {
  for (const line of lines) {
    const short = line.length > MAX_LINE_LENGTH ? '' : line.trim();
    if (/^[>＞]/u.test(short)) return false;
    if (line.trim() === '' || (short.length > MAX_TITLE_LENGTH && !isReply)) continue;
    if (
      (mayBeTitle(short) && QUOTE_TITLE_LINE.test(short)) ||
      (short.startsWith('--') && NAMELESS_TITLE.test(short)) ||
      (/[:：][*_\s]*$/u.test(short) && BEGIN_TITLE_LINE.test(short))
    )
      return FORWARD_WORD.test(short);
    if (isReply) return false;
  }
  return false;
}

const FORWARD_WORD = new RegExp(FORWARD_WORDS, 'iu');

/** Lines that such an introduction takes, and characters. */
const MAX_INTRODUCTION_LINES = 6;
const MAX_INTRODUCTION_LENGTH = 600;
/** Lines of a wrapped introduction right above a quotation, and characters. */
const MAX_WRAPPED_LINES = 3;
const MAX_WRAPPED_LENGTH = 220;
const MAX_TITLE_LENGTH = 90;
/** The end of a line that introduces a quotation. */
const INTRODUCTION_END = /[:：៖]\W{0,3}$|>$|-{2,}$|\p{Nd}\)$|(?<=գրել է)\.$/u;
/** Code units that such an end takes at most. */
const INTRODUCTION_END_LENGTH = 8;
/** GroupWise: `>>> Ann <ann@example.com> 1/6/2026 10:11 AM >>>`. */
const GROUPWISE = /^>>>\s[^>].{1,150}\p{Nd}{1,2}[:.]\p{Nd}{2}.{0,20}>>>$/u;
/** Gnus: `>>>>> "Ann" == Ann Smith <ann@example.com> writes:`. */
const SUPERCITE = /^>{2,}\s?"[^"]{1,60}" == .{1,150}[:：]$/u;
/** Names of fields that only mails have. */
const ONLY_MAIL_FIELD = /^[*_\s]{0,3}(?:expeditorul|отправитель|šalje)\s?[:：]/iu;
const NOTES_NAME = /^\p{L}[\p{L} .'-]{1,60}(?:\/[\p{L}\p{N} .-]{1,40}){1,4}(?:@[\p{L}\p{N}.-]{1,40})?$/u;
const NOTES_ADDRESS = /^["“]?\p{L}[^<>@:]{1,80}<[^<>\s@]{1,64}@[^<>\s]{1,200}>$/u;
const MAX_NOTES_LINES = 12;
/** Samsung, when a program joins lines: `-------- Original message --------From: ann@example.com Date: 1/6/26`. */
const TITLE_AND_FIELD = new RegExp(
  `^[*_\\s]*[-=_]{3,}\\s*(?:${QUOTE_TITLES})\\s*[-=_]{3,}\\s*(?:${QUOTED_FIELDS.from})\\s?[:：].{3,}$`,
  'iu',
);
const QUOTE_TITLE_LINE = new RegExp(
  `^[*_\\s]*(?:[-=_]{2,}[\\s*]*(?:${QUOTE_TITLES})[\\s*]*[-=_]{2,})[*_\\s]*$|^\\[?original message processed by david`,
  'iu',
);
/** Apple Mail, above the fields: `Begin forwarded message:` */
const BEGIN_TITLE_LINE = new RegExp(
  `^[*_\\s]*(?:(?:${BEGIN_WORDS}).{1,60}|.{1,60}(?:${BEGIN_WORDS}))\\s?[:：][*_\\s]*$`,
  'iu',
);
/** ASCII that begins such a line: a frame, or the first letters of `begin` in the languages above. */
const TITLE_FRAME = '*_-=';
const TITLE_LETTERS = 'o[';
const DASHED_TITLE = /^[*\s]*[-=_]{3,}\s*\p{L}[^\p{Nd}:@<>]{2,60}[-=_]{3,}[*\s]*$/u;
/** `----- Forwarded by Ann on 01/06/2026 10:11 AM -----` */
const DATED_TITLE = /^[-=_]{2,}\s?\p{L}.{5,70}[-=_]{2,}$/u;
/** A day, a time or a year, and not the number of an offer. */
const TITLE_DATE =
  /\p{Nd}{1,2}[./-]\p{Nd}{1,2}[./-]|\p{Nd}{1,2}[:.h]\p{Nd}{2}(?!\p{Nd})|(?<!\p{Nd})(?:19|20)\p{Nd}{2}(?!\p{Nd})|\p{Nd}月|\p{Nd}월/u;
/** A time, an address or a word for a message, and not the day of a release. */
const TITLE_MOMENT = new RegExp(
  `\\p{Nd}{1,2}[:.h時시点]\\p{Nd}{2}(?!\\p{Nd}|[.]\\p{Nd})|@|${FORWARD_WORDS}|${WROTE}|mess?ag|nachricht|e-?mail|wiadomo|сообщ|письм`,
  'iu',
);
/** Notes: `"Ann Smith" ---01/06/2026 10:11:12 AM---Please send the report.` */
const NOTES_LINE =
  /^(?:From: )?["“]?\p{L}[^"”<>]{1,60}["”]? {0,2}-{2,5} ?\p{Nd}{1,4}[./-]\p{Nd}{1,2}[./-]\p{Nd}{1,4} \p{Nd}{1,2}[:.]\p{Nd}{2}(?:[:.]\p{Nd}{2})?(?: [AP]M)? ?-{2,5}/u;
/** The end of an introduction with an address, and text behind it. */
const INLINE_HEAD = /^(.{0,200}@.{0,120}[:：])\s{2,}\S/u;
/** iNotes: `-----Ann Smith/HQ/Example wrote: -----` */
const DASHED_WROTE = new RegExp(`^-{3,}\\s?\\p{L}.{1,70}(?<!\\p{L})(?:${WROTE})\\s?[:：]\\s?-{3,}$`, 'iu');
const NAMELESS_TITLE = new RegExp(`^[*_\\s-]*(?:${QUOTE_TITLES})[*_\\s-]*[:：]?[*_\\s-]*$`, 'iu');

const HOUR = /[:：]\s*\p{Nd}{1,2}(?:[:.h]\p{Nd}{2}|\s?(?:h|uhr|am|pm))(?:\s?(?:h|uhr|am|pm))?$/iu;
const FIELD_NAME = /^[^:：]{0,40}[:：]/u;
/** Two digits, an address, or a letter that is not small: settings (`from: eth0`) have none in their values. */
const HAS_FACTS = /@|\p{Nd}{2}|[\p{Lu}\p{Lo}]/u;
/** The last line of an introduction that was wrapped. */
const WROTE_TAIL = new RegExp(`^(?:>\\s?)?(?:${WROTE})\\W{0,3}[:：]$`, 'iu');

/** Finds the lines that introduce quoted mail. `isQuoted` and `isCode` say which lines begin with `>` or are fenced. */
export class IntroductionFinder {
  readonly #lines: readonly Line[];
  readonly #isQuoted: readonly boolean[];
  readonly #isCode: readonly boolean[];
  /** whether several lines begin as those of a log do */
  readonly #isLog: boolean;
  /** whether people are listed, each with an address and a date, as above a message of Notes */
  readonly #isListOfPeople: boolean;

  constructor(lines: readonly Line[], isQuoted: readonly boolean[], isCode: readonly boolean[]) {
    this.#lines = lines;
    this.#isQuoted = isQuoted;
    this.#isCode = isCode;
    this.#isLog = lines.filter(({ short }, at) => isQuoted[at] !== true && MOMENT_AND_NAME.test(short)).length > 1;
    this.#isListOfPeople = lines.filter((_, at) => this.#isDatedAddress(at)).length > 1;
  }

  /** Returns the first line from here on that is not blank, or the number of lines. */
  nextNonBlank(from: number): number {
    let at = from;
    while (at < this.#lines.length && this.#line(at).isBlank) at++;
    return at;
  }

  /** Returns all introductions in the order of the text, not overlapping. */
  find(): Introduction[] {
    const found: Introduction[] = [];
    let free = 0;
    for (let at = 0; at < this.#lines.length; at++) {
      if (this.#isCode[at] === true) continue;
      const introduction =
        this.#fieldsAt(at, free) ??
        this.#blockAt(at) ??
        this.#titleAt(at) ??
        this.#markedAt(at) ??
        this.#inlineAt(at, free) ??
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
    const line = this.#line(at);
    const { short, mark } = line;
    // Few lines begin in one of these ways, or have one of these words; the patterns are large.
    const isFramed = FRAME.includes(short.charAt(0));
    const isArrow = short.startsWith('>>');
    if (isArrow && SUPERCITE.test(short)) return { from: at, to: at, kind: 'wrote' };
    if (
      (short.includes('--') && NOTES_LINE.test(short) && !this.#isAnnounced(at) && this.#isNotesLine(at)) ||
      ((short.includes('/') || short.endsWith('>')) && this.#isNotesHeading(at))
    )
      return { from: at, to: at, kind: 'fields' };
    if (
      mark === 'onwards' ||
      (isArrow && GROUPWISE.test(short)) ||
      asksToReplyAbove(line) ||
      (isFramed && isReplyPrompt(short))
    )
      return { from: at, to: at, kind: 'fields' };
    if (this.#isQuoted[at] === true || short === '') return null;
    if (isFramed && short.startsWith('-') && TITLE_AND_FIELD.test(short)) return { from: at, to: at, kind: 'fields' };
    if (short.length > MAX_TITLE_LENGTH) return null;
    const next = this.nextNonBlank(at + 1);
    // A sentence goes on: `----- Original Message -----` is the name of the band.
    const goesOn = /^\p{Ll}/u.test(this.#line(next).short) && !this.#isFieldAt(next);
    const isTitle =
      (mayBeTitle(short) && QUOTE_TITLE_LINE.test(short) && !goesOn) ||
      (/[:：][*_\s]*$/u.test(short) && BEGIN_TITLE_LINE.test(short) && this.#isMessageAt(next)) ||
      (isFramed &&
        ((DATED_TITLE.test(short) && TITLE_DATE.test(short) && TITLE_MOMENT.test(short)) ||
          DASHED_WROTE.test(short) ||
          (DASHED_TITLE.test(short) && this.#isFieldAt(this.nextNonBlank(at + 1))))) ||
      (this.#fieldsAt(this.nextNonBlank(at + 1), at + 1) !== null && NAMELESS_TITLE.test(short));
    return isTitle ? { from: at, to: at, kind: 'fields' } : null;
  }

  /** Whether a name and a date between dashes are of Notes: the name is quoted, or fields of the message follow. People keep logs like this. */
  #isNotesLine(at: number): boolean {
    const { short } = this.#line(at);
    if (/^(?:From: )?["“]/u.test(short)) return true;
    const next = this.nextNonBlank(at + 1);
    return (
      !NOTES_LINE.test(this.#line(next).short) &&
      (findField(this.#line(next).short) !== null || short.startsWith('From: '))
    );
  }

  /** Notes: `Ann Smith/HQ/Example` or an address, the date, and `To` and `Subject` alone on lines, or before their values. */
  #isNotesHeading(at: number): boolean {
    const { short } = this.#line(at);
    const isNamed = NOTES_NAME.test(short) && this.#isDateNext(at);
    if (!isNamed && (this.#isListOfPeople || !this.#isDatedAddress(at))) return false;
    const names = this.#lines
      .slice(at + 2, at + MAX_NOTES_LINES)
      .map(({ short }) => findField(`${short.split(/\s/u, 1)[0]}:`));
    return names.includes('to') && names.includes('subject');
  }

  #isDatedAddress(at: number): boolean {
    const { short } = this.#line(at);
    return short.endsWith('>') && NOTES_ADDRESS.test(short) && this.#isDateNext(at);
  }

  #isDateNext(at: number): boolean {
    return DATE.test(this.#line(this.nextNonBlank(at + 1)).short);
  }

  /** Whether the fields of a message begin in this line, quoted or not. */
  #isMessageAt(at: number): boolean {
    if (this.#isQuoted[at] === true) return findField(this.#line(at).short.replace(/^>\s?/u, '')) !== null;
    return this.#fieldsAt(at, at) !== null || endOfFieldBlock(this.#lines, at) !== null;
  }

  #isFieldAt(at: number): boolean {
    return findField(this.#line(at).short) !== null || endOfFieldBlock(this.#lines, at) !== null;
  }

  /** The fields of a message in a language that the reader does not know, below a blank line or a separator. */
  #blockAt(at: number): Introduction | null {
    const above = this.#line(at - 1);
    if (at === 0 || this.#isQuoted[at] === true || !(above.isBlank || SEPARATOR.test(above.short))) return null;
    const to = endOfFieldBlock(this.#lines, at);
    if (to === null || isRawHeader(this.#lines, at, to)) return null;
    const from = SEPARATOR.test(above.short) ? at - 1 : at;
    return { from, to, kind: this.isQuoteLike(this.nextNonBlank(to + 1)) ? 'wrote' : 'fields' };
  }

  /** Yahoo on telephones: the quoted text begins behind the introduction, in the same line. */
  #inlineAt(at: number, free: number): Introduction | null {
    const { short } = this.#line(at);
    if (this.#isQuoted[at] === true || !short.includes(':  ')) return null;
    const head = INLINE_HEAD.exec(short)?.[1];
    if (head === undefined || this.#isAnnounced(at)) return null;
    if (LEAD.test(head)) return introduces(head, false, false) ? { from: at, to: at, kind: 'fields' } : null;
    const above = at > free ? this.#line(at - 1).short : '';
    const isWhole = LEAD.test(above) && introduces(`${above} ${head}`, false, false);
    return isWhole ? { from: at - 1, to: at, kind: 'fields' } : null;
  }

  /** Whether the line right above ends with a colon: minutes or a log follow. */
  #isAnnounced(at: number): boolean {
    return /[:：]$/u.test(this.#line(at - 1).short);
  }

  #markedAt(at: number): Introduction | null {
    if (this.#line(at).mark !== 'introduction') return null;
    let to = at;
    while (this.#line(to + 1).mark === 'introduction') to++;
    return { from: at, to, kind: 'wrote' };
  }

  /** At least three of From, Date, To and Subject, two below a separator. Values may take more lines. */
  #fieldsAt(at: number, free: number): Introduction | null {
    if (this.#isQuoted[at] === true || findField(this.#line(at).short) === null) return null;
    const fields = new Set<string>();
    // Tickets and invitations have From, To and Date, too.
    let isOfMail = false;
    let hasAddress = false;
    let hasSent = false;
    let to = at;
    for (let next = at; next < this.#lines.length && next - to <= 3 && next - at < MAX_FIELD_LINES; next++) {
      const { short, isBlank } = this.#line(next);
      const field = this.#isQuoted[next] === true ? null : findField(short);
      if (isBlank && next - to > 1) break;
      if (field === null) continue;
      if (fields.has(field) && field !== 'other') break;
      // An agenda: `From: 10:00`.
      if (field === 'from' && HOUR.test(short)) return null;
      fields.add(field);
      const inside = fieldsInside(short);
      for (const one of inside) fields.add(one);
      hasAddress ||= ADDRESS.test(short);
      hasSent ||= isSentField(short) || inside.length > 0 || ONLY_MAIL_FIELD.test(short);
      isOfMail ||= inside.includes('subject') || field === 'subject' || hasAddress || isSentField(short);
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
    // Its sender in a language whose word for it is unknown.
    if (
      from === at &&
      at > free &&
      !fields.has('from') &&
      fields.size > 2 &&
      this.#isOtherField(at - 1) &&
      this.#line(at - 2).isBlank
    ) {
      // An order: `Name`, `Date`, `To` and `Subject`.
      if (!hasAddress && isLabel(this.#line(at - 1).short)) return null;
      from--;
    }
    if (!fields.has('subject') && this.#isOtherField(to + 1)) return null;
    if (!isOfMail || (!hasAddress && isFenced(this.#lines, at))) return null;
    if (!this.#hasFacts(at, to) || isRawHeader(this.#lines, at, to)) return null;
    fields.delete('other');
    const isQuoteNext = this.isQuoteLike(this.nextNonBlank(to + 1));
    const isApart = from < at || isQuoteNext;
    const isSent = isApart || isDateField(this.#line(at).short);
    if (!isApart && !fields.has('date')) return null;
    if (fields.size < (from < at && isQuoteNext ? 1 : isSent ? 2 : 3)) return null;
    // An order, a parcel or a memo: no mail program wrote it.
    const below = this.nextNonBlank(to + 1);
    // A cell of a table has a line of its own.
    const last = /[:：]$/u.test(this.#line(to).short) ? this.nextNonBlank(below + 1) : below;
    const hasRule = SEPARATOR.test(this.#line(last).short);
    // The order of mail programs; a memo has the date before or behind all others.
    hasSent ||= [...fields].join() === 'from,date,to,subject' && below <= to + 2;
    if (from === at && !isSent && !hasAddress && !hasSent && !hasRule && !this.#hasNotesName(at, to)) return null;
    return { from, to, kind: isQuoteNext ? 'wrote' : 'fields' };
  }

  #hasFacts(from: number, to: number): boolean {
    for (let at = from; at <= to; at++) {
      const { short } = this.#line(at);
      if (HAS_FACTS.test(findField(short) === null ? short : short.replace(FIELD_NAME, ''))) return true;
    }
    // The values may follow, as in tables.
    return HAS_FACTS.test(this.#line(to + 1).short);
  }

  /** Whether a value is a name as Notes has it: `Ann Smith/HQ/Example`. */
  #hasNotesName(from: number, to: number): boolean {
    return this.#lines.slice(from, to + 1).some(({ short }) => NOTES_NAME.test(short.replace(FIELD_NAME, '').trim()));
  }

  #isDateHeading(at: number): boolean {
    const { short } = this.#line(at);
    return (
      short.length <= MAX_TITLE_LENGTH && this.#line(at - 1).isBlank && /\p{Nd}{1,2}:\p{Nd}{2}\W{0,2}$/u.test(short)
    );
  }

  /** Whether the line is a field that no message has: parcels and journeys have From, To and Sent, too. */
  #isOtherField(at: number): boolean {
    return isField(this.#line(at).short) && findField(this.#line(at).short) === null;
  }

  /** Whether the line may end an introduction without a colon: above a quotation or a blank line, and without the end of a sentence. */
  #endsOpen(at: number): boolean {
    const { short } = this.#line(at);
    if (short === '' || /[.!?;,。！？]$/u.test(short)) return false;
    const isBlankNext = this.#line(at + 1).isBlank;
    const isQuoteNext = this.isQuoteLike(this.nextNonBlank(at + 1));
    if (!isQuoteNext && !isBlankNext) return false;
    return WROTE_WORD.test(short) && (isQuoteNext || WROTE_END.test(short));
  }

  /** `On Monday Ann <ann@example.com> wrote:`, in one line or several, of which `at` is the last. */
  #wroteAt(at: number, free: number): Introduction | null {
    const last = this.#line(at);
    if (
      !INTRODUCTION_END.test(last.short.slice(-INTRODUCTION_END_LENGTH)) &&
      !GMT_LINE.test(last.short) &&
      !(last.short.includes('@') && NAMED_MOMENT.test(last.short)) &&
      !this.#endsOpen(at)
    )
      return null;
    // `> wrote:` is the end of `<ann@example.com\n> wrote:`.
    const isTail = /^>\s?(?:\p{L}.{0,40})?[:：]$/u.test(last.short) && ADDRESS.test(this.#line(at - 1).short);
    if (this.#isQuoted[at] === true && !isTail) return null;
    if (WROTE_TAIL.test(this.#line(at + 1).short)) return null;
    const next = this.nextNonBlank(at + 1);
    const isQuoteNext = this.isQuoteLike(next);
    if (!isQuoteNext && MOMENT_AND_NAME.test(last.short) && this.#isLogEntry(at)) return null;
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
        LEAD.test(short) ||
        (EARLY_DATE.test(short) && !short.startsWith('+')) ||
        NAME_AND_ADDRESS.test(short) ||
        short.startsWith('--');
      const isNameAbove = !ADDRESS.test(joined) && from > free && NAME_AND_ADDRESS.test(this.#line(from - 1).short);
      if (isBegin && !isNameAbove) {
        alone = this.#isDateAlone(from - 1, free) ? from - 1 : from;
        break;
      }
      if (from === at) alone = at;
    }
    if (alone === null) return null;
    return { from: isQuoteNext ? this.#beginOfWrapped(alone, at, free) : alone, to: at, kind: 'wrote' };
  }

  /** Whether a line with a moment and a name is one of a log or of minutes: one of several, or announced by a colon. */
  #isLogEntry(at: number): boolean {
    if (this.#isLog) return true;
    let above = at - 1;
    while (above > 0 && this.#line(above).isBlank) above--;
    return /[:：]$/u.test(this.#line(above).short);
  }

  /** The first line of the short paragraph that an introduction ends, if its last lines name no one. */
  #beginOfWrapped(from: number, at: number, free: number): number {
    let begin = from;
    while (begin > free && at - begin < MAX_WRAPPED_LINES && !this.#line(begin - 1).isBlank) begin--;
    if (begin === from || !this.#line(begin - 1).isBlank) return from;
    const above = this.#lines.slice(begin, from).map(({ short }) => short);
    const joined = this.#lines
      .slice(begin, at + 1)
      .map(({ short }) => short)
      .join(' ');
    if (
      joined.length > MAX_WRAPPED_LENGTH ||
      above.some((short) => /[.!?:;。！？]$/u.test(short) && !/\p{Nd}\.$/u.test(short))
    )
      return from;
    return isDangling(this.#lines.slice(from, at + 1)) && (DATE.test(joined) || ADDRESS.test(joined)) ? begin : from;
  }

  /** Becky!: `On Tue, 6 Jan 2026 10:11:12 +0900` above the name. */
  #isDateAlone(at: number, free: number): boolean {
    const { short } = this.#line(at);
    return (
      at >= free &&
      this.#line(at - 1).isBlank &&
      LEAD.test(short) &&
      DATE.test(short) &&
      /(?:\p{Nd}|[ap]\.?m\.?|uhr)$/iu.test(short)
    );
  }

  /** Returns whether a quotation may begin in this line, with `>`, indented or a mark of its own. */
  isQuoteLike(at: number): boolean {
    return (
      this.#isQuoted[at] === true ||
      this.#line(at).mark === 'block' ||
      findOwnMark(this.#line(at).text, this.#line(at + 1).text) !== null
    );
  }

  #line(at: number): Line {
    return this.#lines[at] ?? NO_LINE;
  }
}

/** Whether a line may match {@link QUOTE_TITLE_LINE}, by how it begins. */
function mayBeTitle(short: string): boolean {
  const first = short.charAt(0);
  if (first > '\u007f' || TITLE_FRAME.includes(first)) return true;
  return TITLE_LETTERS.includes(first.toLowerCase());
}

/** Whether lines that introduce a quotation are the rest of some: they begin with an address, or name no one. */
function isDangling(lines: readonly Line[]): boolean {
  const joined = lines.map(({ short }) => short).join(' ');
  if (/^\(?[<[]/u.test(joined)) return true;
  if (ADDRESS.test(joined)) return false;
  return !WROTE_WORD.test(joined) || !/(?<!\p{L})(?![AP]M|UTC|GMT|[CM]ES?T|MES?Z)\p{Lu}\p{L}/u.test(joined);
}
