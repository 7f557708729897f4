import { introduces } from './attribution.ts';
import { type Introduction, IntroductionFinder } from './quote-introductions.ts';
import { type Fate, findOwnMark, type Line, NO_LINE, SEPARATOR } from './reply-line.ts';
import {
  DETERMINERS,
  DEVICES,
  DISCLAIMER_CLAUSES,
  DISCLAIMER_CONDITIONS,
  DISCLAIMER_SELF,
  DISCLAIMER_STARTS,
  DISCLAIMER_WORDS,
  EXCUSES,
  FIRST_PERSON,
  PROGRAM_SIGNATURES,
  SALUTATIONS,
} from './reply-words.ts';

/**
 * Returns what each line is, in linear time. All may be quoted or signatures. `isReply`: whether the message replies to one; one that does
 * not quotes mail only below an introduction.
 */
export function decideFates(lines: readonly Line[], isReply: boolean): readonly Fate[] {
  const reader = new ReplyReader(lines, isReply);
  reader.read();
  return reader.fates;
}

/** Own lines below a quotation that count as a footer when its author wrote above it, too. */
const MAX_FOOTER_LINES = 6;
/** Lines below a separator that mailing lists add. */
const MAX_LIST_FOOTER_LINES = 4;
const MAX_SIGNATURE_LINES = 12;
const MAX_DISCLAIMER_LINES = 30;
/** Characters of the line of a telephone. */
const MAX_DEVICE_LENGTH = 90;
/** Characters of a quoted line that was wrapped, of others in the same text, and words of its rest. */
const MIN_WRAPPED_LENGTH = 40;
const MIN_REST_LENGTH = 20;
const MIN_LAST_LENGTH = 60;
const MAX_REST_WORDS = 5;

const PROGRAM_SIGNATURE = new RegExp(`^[\\W_]{0,4}(?:${PROGRAM_SIGNATURES.join('|')})[\\W_]{0,4}$`, 'iu');
const DEVICE = new RegExp(`(?:${DEVICES})`, 'iu');
const LAST_DEVICE = new RegExp(`^.*(?:${DEVICES})\\p{L}{0,8}`, 'iu');
const DETERMINER = new RegExp(`(?<!\\p{L})(?:${DETERMINERS})(?!\\p{L})`, 'u');
const EXCUSE = new RegExp(EXCUSES, 'iu');
const MIN_SENTENCE_WORDS = 3;
const ARROW_LINE = /^>\s?[\p{L}\p{N}][^\s.,!?]{1,20}(?: [\p{L}\p{N}][^\s.,!?]{0,20})?$/u;
const MAX_ARROW_LINES = 8;
/** Of trackers, which name no device. */
const NOTICE = /^[\W_]{0,4}(?:reply to this|you are receiving)/iu;
const MESSAGE_ID_LINE = /^message[ -]id: ?<[^<>\s]{1,250}>$/iu;
/** The address of a link that a program wrote behind its words. */
const LINK_END = /\s?[<[(]https?:\/\/[^\s<>[\]()]{1,250}[>\])]$/iu;
const DISCLAIMER = new RegExp(`^\\W{0,4}${DISCLAIMER_STARTS}`, 'iu');
const DISCLAIMER_WORD = new RegExp(DISCLAIMER_WORDS, 'iu');
const DISCLAIMER_CLAUSE = DISCLAIMER_CLAUSES.map((words) => new RegExp(words, 'iu'));
/** What is said of every message is no sentence of a person who sent something by mistake. */
const DISCLAIMER_FORM = [DISCLAIMER_SELF, DISCLAIMER_CONDITIONS].map((words) => new RegExp(words, 'iu'));
/** Clauses that make a paragraph below a separator or a signature a disclaimer; elsewhere it has all of them. */
const LEAST_CLAUSES = 3;
const SPEAKER = new RegExp(FIRST_PERSON, 'iu');
const SALUTATION = new RegExp(
  `^(?:${SALUTATIONS})(?!\\p{L})(?:\\P{L}{1,3}\\p{L}[\\p{L}.’'-]{0,30}){0,4}\\P{L}{0,3}$`,
  'iu',
);
const LEAST_DISCLAIMER_LENGTH = 80;
/** Also in bold. */
const SIGNATURE_MARK = /^(?:--|\*--\s?\*)$/u;
const LONG_SEPARATOR = /^[-_=*~–—]{5,}$/u;
/** A mark that some programs add to measure openings. */
const TRACKER = /^[\u1427\u180e\u2800]+$/u;
/** A line of a tracker or a scanner: a few words and its own link, which says that it is of a signature. */
const SIGNED_LINK =
  /^(?:\S{1,30} ){0,6}\S{0,60}<https?:\/\/[^\s<>]{1,200}(?:sig-email|utm_(?:medium|campaign|source)=[^&<>\s]{0,20}sig(?:nature)?)[^\s<>]{0,250}>[.\s]*$/iu;
/** What is left in a text of a link within the HTML, and a program's own link above the line that it adds. */
const ANCHOR = /^<#[\w-]{8,80}>$/u;
const SIGNATURE_LINK = /^<https?:\/\/[^\s<>]{1,120}(?:sig-email|[?&]utm_)[^\s<>]{0,250}>$/iu;
/** A link that ends on the next line, with `>`. */
const OPEN_LINK = /^[^>].*<(?:https?:|mailto:)[^<>\s]*$|^<(?:https?:|mailto:)[^<>\s]*$/iu;
const OPEN_BRACKET = /[(<]https?:[^\s()<>]*$/iu;
const CLOSING_BRACKET = /^[^\s()<>]+[)>]\W*$/u;
/** A note with a link, as programs number them, and what refers to one. */
const LINK_NOTE = /^\[(\d{1,3})\]:?\s?<?(?:https?:|mailto:)\S+$/iu;
const NOTE_MARK = /\[(\d{1,3})\]/gu;
const LINK_ALONE = /^\W{0,2}https?:\S+\s?\W{0,2}$/iu;
const ADDRESS_ALONE = /^[^\s@<>]{1,64}@[^\s@<>]{1,253}$/u;
const INITIALS_QUOTE = /^\s{0,3}\p{Lu}{1,3}>/u;
/** What trackers write below the text that they notify of. */
const REPLY_PROMPT =
  /^(?:you can |to comment,? |to respond,? )?repl(?:y|ies)(?: directly)? (?:to|via|by)(?: this| the)? (?:e-?mail|message|notification)\b.{0,100}$|^(?:antworten sie(?: direkt)?|sie können) auf diese (?:e-?mail|nachricht).{0,100}$|^répond(?:ez|re) (?:directement )?à (?:cet |ce )(?:e-?mail|courriel|message).{0,100}$|^respond[ae] a este (?:correo|mensaje|e-?mail).{0,100}$|^rispondi a questa (?:e-?mail|mail).{0,100}$|^respond[ae] a este e-?mail.{0,100}$|^beantwoord deze e-?mail.{0,100}$|^ответьте на это (?:письмо|сообщение).{0,100}$/iu;
/** Lines below a rule that are searched for these. */
const MAX_SEARCHED_LINES = 40;
const GREETING = /^\S.{0,50}[,，]$/u;

class ReplyReader {
  readonly fates: Fate[];
  readonly #lines: readonly Line[];
  readonly #isReply: boolean;
  readonly #isQuoted: boolean[];
  readonly #isCode: boolean[];
  readonly #finder: IntroductionFinder;
  readonly #introductions: Introduction[];
  readonly #isIntroduction: boolean[];

  constructor(lines: readonly Line[], isReply: boolean) {
    this.#lines = lines;
    this.#isReply = isReply;
    this.fates = lines.map(({ mark }) => (mark === 'signature' ? 'signature' : 'kept'));
    this.#isCode = fencedLines(lines);
    this.#isQuoted = lines.map(
      ({ text, mark }, at) =>
        mark === 'quote' ||
        (this.#isCode[at] !== true && /^\s{0,3}[>＞]/u.test(text) && !OPEN_LINK.test(this.#line(at - 1).short)),
    );
    this.#quoteWrappedLinks();
    this.#quoteLostMarks();
    this.#finder = new IntroductionFinder(lines, this.#isQuoted, this.#isCode);
    this.#introductions = this.#finder.find();
    this.#isIntroduction = lines.map(() => false);
    for (const { from, to } of this.#introductions) this.#isIntroduction.fill(true, from, to + 1);
  }

  read(): void {
    this.#removeLinkNotes();
    this.#removeSignatures();
    this.#removeAddressAboveFields();
    this.#removeBelowDevice();
    this.#removeQuotations();
    this.#removeEnd();
    this.#removeQuotedIntroduction();
  }

  /**
   * `[1] https://…` below quoted mail, with a heading above a rule as programs write it, when only quoted lines have their numbers. A heading
   * alone is the author's: `Sources:`.
   */
  #removeLinkNotes(): void {
    const above = (at: number) => this.#lastAbove(at);
    const last = above(this.#lines.length);
    let at = last;
    const numbers = new Set<string>();
    for (let mark = LINK_NOTE.exec(this.#line(at).short)?.[1]; mark !== undefined && at > 0; ) {
      numbers.add(mark);
      at = above(at);
      mark = LINK_NOTE.exec(this.#line(at).short)?.[1];
    }
    if (at === last) return;
    if (SEPARATOR.test(this.#line(at).short)) {
      at = above(at);
      if (/^\p{L}{1,20}\s?[:：]$/u.test(this.#line(at).short)) at = above(at);
    }
    if (this.#isQuoted[at] !== true) return;
    const cites = ({ short }: Line) => [...short.matchAll(NOTE_MARK)].some(([, number = '']) => numbers.has(number));
    const citing = this.#lines.slice(0, at + 1).flatMap((line, index) => (cites(line) ? [this.#isQuoted[index]] : []));
    if (citing.length > 0 && citing.every((isQuoted) => isQuoted === true))
      this.#remove('quote', at + 1, this.#lines.length);
  }

  /** Foxmail and others write the author's address, alone on a line, between the text and the fields of the original. */
  #removeAddressAboveFields(): void {
    for (const { from, kind } of this.#introductions) {
      if (kind !== 'fields') continue;
      let above = from - 1;
      while (above > 0 && this.#line(above).isBlank) above--;
      const isAddress = this.#isOwn(above) && ADDRESS_ALONE.test(this.#line(above).short);
      const hasText = isAddress && this.#lines.slice(0, above).some((_line, at) => this.#isOwn(at));
      if (hasText && this.#line(above - 1).isBlank) this.#remove('signature', above, above + 1);
      return;
    }
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
    if (short.length > MAX_DEVICE_LENGTH || !this.#line(at - 1).isBlank || !this.#line(at + 1).isBlank) return false;
    if (!this.#isOwn(at) || /^(?!iP)\p{Ll}|[:：,]$/u.test(short)) return false;
    if (!DEVICE.test(short) || !isProgramSignature(short)) return false;
    let above = at - 1;
    while (above > 0 && this.#line(above).isBlank) above--;
    // The author announces it: `Delete this text:`.
    return !/[:：]$/u.test(this.#line(above).short);
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
      if (this.#isQuoted[at - 1] !== true || this.#isQuoted[at] === true) continue;
      const above = this.#line(at - 1).short;
      // The last line of a quotation, if others were wrapped, too.
      const isLast = isSure && this.#line(at + 1).isBlank && above.length >= MIN_LAST_LENGTH;
      if (this.#isQuoted[at + 1] !== true && !(isLast && /^\p{Ll}/u.test(this.#line(at).short))) continue;
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
      const isSignature = !isCode && SIGNATURE_MARK.test(short) && below <= MAX_SIGNATURE_LINES;
      // Also above the fields of a quoted message.
      const isAtEnd = isEnd || (below > 0 && onwards.has(foreign));
      const mayBeFooter =
        !isCode && hasQuote && isAtEnd && LONG_SEPARATOR.test(short) && below <= MAX_LIST_FOOTER_LINES;
      const isFooter = mayBeFooter && !this.#isAnnounced(at);
      const isPrompt =
        !isCode &&
        (short === '—' || SEPARATOR.test(short)) &&
        below <= MAX_SIGNATURE_LINES &&
        this.#hasLine(REPLY_PROMPT, at + 1, foreign);
      if (isSignature || isFooter || isPrompt) {
        this.#remove('signature', at, foreign);
        foreign = at;
        below = 0;
      } else below++;
    }
  }

  /** Whether the author's line above ends with a colon. */
  #isAnnounced(at: number): boolean {
    const above = this.#lastAbove(at);
    return this.#isOwn(above) && /[:：]$/u.test(this.#line(above).short);
  }

  #hasLine(pattern: RegExp, from: number, end: number): boolean {
    return this.#lines.slice(from, Math.min(end, from + MAX_SEARCHED_LINES)).some(({ short }) => pattern.test(short));
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
      const next = this.#finder.nextNonBlank(to + 1);
      const isQuoteNext = next < count && this.#finder.isQuoteLike(next);
      if (!isQuoteNext) {
        if (before > 0) return this.#remove('quote', from, count);
        if (this.#isReply) this.#remove('quote', from, to + 1);
        continue;
      }
      const end = this.#endOfQuotation(next);
      const own = ownFrom[end] ?? 0;
      const isFooter = own <= MAX_FOOTER_LINES && lastForeign < end && !this.#isGreeting(from);
      if (own === 0 && before === 0) return;
      if (before > 0 && (own === 0 || kind === 'fields' || isFooter)) return this.#remove('quote', from, count);
      // Replies between quotations stay with what they reply to, also when nothing is above the first one.
      this.#remove('quote', from, before === 0 && lastForeign < end ? end : to + 1);
      begin = end;
    }
  }

  /**
   * Apple Mail quotes `On Monday Ann wrote:` with the rest: it goes though the quotation stays above a reply to it, and with the quotation
   * if that is the only one.
   */
  #removeQuotedIntroduction(): void {
    const first = this.#isQuoted.indexOf(true);
    if (first < 0 || this.fates[first] !== 'kept') return;
    const short = this.#line(first).short.replace(/^>\s?/u, '');
    if (!/[:：]$/u.test(short) || !introduces(short, false, true)) return;
    const end = this.#isQuoted.indexOf(false, first);
    const isOnly =
      end > 0 && !this.#isQuoted.includes(true, end) && !this.#lines.slice(0, first).some((_, at) => this.#isOwn(at));
    this.#remove('quote', first, isOnly ? end : first + 1);
  }

  /** The first own line behind a quotation that begins in this line. */
  #endOfQuotation(start: number): number {
    const { text } = this.#line(start);
    for (let at = start; this.#line(at).mark === 'block'; at++) this.#isQuoted[at] = true;
    const mark = this.#isQuoted[start] === true ? null : findOwnMark(text, this.#line(start + 1).text);
    if (mark !== null)
      for (let at = start; at < this.#lines.length; at++)
        if (this.#line(at).text.trimStart().startsWith(mark)) this.#isQuoted[at] = true;
        else if (!this.#line(at).isBlank) break;
    let at = start;
    while (at < this.#lines.length && !this.#isOwn(at)) at++;
    return at;
  }

  /** Whether only a greeting is above this line. */
  #isGreeting(before: number, greeting = GREETING): boolean {
    let greetings = 0;
    for (let at = before - 1; at >= 0; at--) {
      if (!this.#isOwn(at)) continue;
      if (++greetings > 1 || !greeting.test(this.#line(at).short)) return false;
    }
    return greetings === 1;
  }

  /** Quotations, separators, signatures of programs and disclaimers below the last own line. */
  #removeEnd(): void {
    let at = this.#lines.length - 1;
    const first = this.#lines.findIndex((_, line) => this.#isOwn(line));
    const hasForeign = this.#introductions.length > 0 || this.#isQuoted.includes(true);
    const mayQuote = this.#isReply || this.#introductions.length > 0;
    for (; at > first; at--) {
      const { short, text, isBlank } = this.#line(at);
      if (this.fates[at] !== 'kept' || isBlank) continue;
      if (this.#isCode[at] === true) return;
      if (this.#isArrowList(at) || (this.#isQuoted[at] === true && this.#line(at).mark === null && !mayQuote)) return;
      if (MESSAGE_ID_LINE.test(short) && NOTICE.test(this.#line(at - 1).short)) {
        this.#remove('signature', at, at + 1);
        continue;
      }
      if (this.#isQuoted[at] === true || this.#isIntroduction[at] === true) this.#remove('quote', at, at + 1);
      else if (hasForeign && INITIALS_QUOTE.test(text)) this.#remove('quote', at, at + 1);
      else if (
        isProgramSignature(short) ||
        TRACKER.test(short) ||
        ANCHOR.test(short) ||
        (LINK_ALONE.test(short) && isProgramSignature(this.#line(at - 1).short)) ||
        SIGNED_LINK.test(short) ||
        (SIGNATURE_LINK.test(short) && this.fates[at + 1] === 'signature') ||
        ((SEPARATOR.test(short) || short === '—') && this.#isLast(at))
      )
        this.#remove('signature', at, at + 1);
      else {
        const from = this.#disclaimerAt(at);
        if (from <= first) return;
        this.#remove('signature', from, at + 1);
      }
    }
  }

  /** Whether the text ends with steps of its author, as in `> Settings`, `> Mail`: lines of a word or two that nothing introduces. */
  #isArrowList(end: number): boolean {
    let at = end;
    while (at >= 0 && end - at <= MAX_ARROW_LINES && ARROW_LINE.test(this.#line(at).short)) at--;
    return end - at > 1 && end - at <= MAX_ARROW_LINES && this.#isOwn(this.#line(at).isBlank ? at - 1 : at);
  }

  /** Whether what followed this line was removed. */
  #isLast(at: number): boolean {
    const next = this.#finder.nextNonBlank(at + 1);
    return next < this.#lines.length && this.fates[next] !== 'kept';
  }

  /** The first line of the disclaimer that ends in this line; -1: it is none. */
  #disclaimerAt(end: number): number {
    let paragraph = '';
    for (let at = end; at >= 0 && end - at < MAX_DISCLAIMER_LINES; at--) {
      const { text, short, isBlank } = this.#line(at);
      if (isBlank || this.fates[at] !== 'kept' || SEPARATOR.test(short))
        return this.#isDisclaimer(paragraph, at) ? at + 1 : -1;
      paragraph = `${text.slice(0, 2_000)} ${paragraph}`.slice(0, 8_000);
      if (
        DISCLAIMER.test(text.slice(0, 200)) &&
        (at === 0 || this.#line(at - 1).isBlank || SEPARATOR.test(this.#line(at - 1).short))
      )
        return DISCLAIMER_WORD.test(paragraph) && this.#mayBeDisclaimer(paragraph, at) ? at : -1;
    }
    return -1;
  }

  /** Whether a paragraph says what disclaimers say, in any words, and the author does not cite it: `Please add this:`. */
  #isDisclaimer(paragraph: string, above: number): boolean {
    if (!this.#mayBeDisclaimer(paragraph, above + 1)) return false;
    const clauses = DISCLAIMER_CLAUSE.filter((clause) => clause.test(paragraph)).length;
    const last = this.#lastAbove(above + 1);
    const { short } = this.#line(last);
    if (clauses < LEAST_CLAUSES || /[:：]$/u.test(short)) return false;
    if (SEPARATOR.test(short) || this.fates[last] === 'signature') return true;
    return clauses === DISCLAIMER_CLAUSE.length && DISCLAIMER_FORM.every((form) => form.test(paragraph));
  }

  /** Whether a paragraph is long enough, no person speaks in it, and it is not all that its author says below a salutation. */
  #mayBeDisclaimer(paragraph: string, from: number): boolean {
    if (paragraph.length <= LEAST_DISCLAIMER_LENGTH || SPEAKER.test(paragraph)) return false;
    return !this.#isGreeting(from) && !this.#isGreeting(from, SALUTATION);
  }

  #lastAbove(line: number): number {
    let at = line - 1;
    while (at > 0 && this.#line(at).isBlank) at--;
    return at;
  }
}

/** Whether a line is one that a program adds, and not a sentence of its author: `Sent from my iPhone it looked odd.` */
function isProgramSignature(short: string): boolean {
  const words = short.replace(LINK_END, '');
  if (!PROGRAM_SIGNATURE.test(short) && !PROGRAM_SIGNATURE.test(words)) return false;
  if (NOTICE.test(words)) return true;
  const behind = words.replace(LAST_DEVICE, '').trim();
  const isSentence = behind.split(' ').length >= MIN_SENTENCE_WORDS && DETERMINER.test(behind) && !EXCUSE.test(behind);
  return behind === words.trim() || !isSentence;
}

/** Lines between two lines of ```. */
function fencedLines(lines: readonly Line[]): boolean[] {
  const fences = lines.flatMap((line, at) => (/^\s{0,3}(?:```|~~~)/u.test(line.text) ? [at] : []));
  const fenced = lines.map(() => false);
  for (let pair = 0; pair + 1 < fences.length; pair += 2) fenced.fill(true, fences[pair], (fences[pair + 1] ?? 0) + 1);
  return fenced;
}
