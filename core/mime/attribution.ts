import { MAX_LINE_LENGTH } from './reply-line.ts';
import { DETERMINERS, QUOTE_TITLES, QUOTED_FIELDS, WROTE, WROTE_LEADS } from './reply-words.ts';

/**
 * Returns where an introduction begins in the line of its author, as in `Yes. On Wed, Apr 4, 2012, ann@example.com wrote:`, and where what it
 * introduces does; programs that lose line breaks make such lines, and Yahoo writes its own behind spaces. Empty if there is none. People
 * cite mail like this: within a line an introduction counts in a reply alone, and when `isWhole` says that all of it is this line.
 */
export function findSharedParts(
  line: string,
  { isReply, isWhole }: { isReply: boolean; isWhole: boolean },
): readonly number[] {
  const hasOn = line.includes('On ');
  const hasTitle = isReply && isWhole && line.includes('---');
  const hasGap = isReply && line.includes(GAP) && END_COLON.test(line.slice(-INTRODUCTION_LENGTH));
  if ((!hasOn && !hasTitle && !hasGap) || /^\s*[>＞|]/u.test(line)) return [];
  if (hasOn && line.length <= MAX_LINE_LENGTH) {
    const at = SHARED_LINE.exec(line)?.index ?? 0;
    if (at > 0) return [at];
  }
  const head = line.slice(0, MAX_SHARED_LENGTH);
  const title = hasTitle ? SHARED_TITLE.exec(head) : null;
  if (title !== null && title.index > 0) return [title.index, title.index + title[0].length];
  const whole = isReply && isWhole && hasOn ? SHARED_WHOLE.exec(head) : null;
  if (whole !== null && whole.index > 0) return [whole.index, whole.index + whole[0].length];
  return hasGap ? findBehindGap(line) : [];
}

/** `Yes.    On Wednesday, April 4, 2012, 10:11:12 AM GMT+2, Ann <ann@example.com> wrote:  `, in any language, with seconds. */
function findBehindGap(line: string): readonly number[] {
  const end = line.trimEnd();
  const gap = end.lastIndexOf(GAP);
  const at = gap + GAP.length;
  if (gap < 0 || end.length - at > INTRODUCTION_LENGTH || end.slice(0, gap).trim() === '') return [];
  const joined = end.slice(at);
  return ADDRESS.test(joined) && YEAR_AND_SECONDS.test(joined) && introduces(joined, false, false) ? [at] : [];
}

/** Spaces with which Yahoo indents its introduction. */
const GAP = '    ';
const END_COLON = /[:：]\s*$/u;
/** Characters of an introduction, and of a line that are searched for one within. */
const INTRODUCTION_LENGTH = 300;
const MAX_SHARED_LENGTH = 4_000;

const SHARED_BEGIN = String.raw`(?:\s|-{2,}\s?)On (?:\p{L}{2,9}[,.]? )?(?:\p{L}{3,9}\.? \d{1,2}|\d{1,2} \p{L}{3,9}\.?),? \d{4}[, ]`;
const SHARED_LINE = new RegExp(`${SHARED_BEGIN}.*(?:wrote:\\s*|<[^<>]*)$`, 'u');
/** With its date and address, and before `>`: before a sentence it is what people write who cite. */
const SHARED_WHOLE = new RegExp(`${SHARED_BEGIN}[^<>]{0,120}<[^<>\\s]{1,100}@[^<>\\s]{1,200}>,? wrote:(?=\\s+>)`, 'u');
/** `ok -----Original message----- From: ann@example.com Sent: …` */
const SHARED_TITLE = new RegExp(
  `(?<!-)-{3,12}\\s?(?:${QUOTE_TITLES})\\s?-{3,12}\\s{0,3}(?:${QUOTED_FIELDS.from})\\s?[:：][^:：]{3,120}\\s(?:${QUOTED_FIELDS.date}|${QUOTED_FIELDS.to}|${QUOTED_FIELDS.subject})\\s?[:：]`,
  'iu',
);

/** A word that says that someone wrote what follows. */
export const WROTE_WORD = new RegExp(`(?<!\\p{L})(?:${WROTE})`, 'iu');
/** The begin of `On Monday Ann wrote:`, with a digit behind it. */
export const LEAD = new RegExp(`^\\W{0,4}(?:${WROTE_LEADS})(?![\\p{L}]{2}).*\\p{Nd}`, 'u');
export const DATE =
  /(?<![a-z\p{Nd}])\p{Nd}{4}(?!\p{Nd})|\p{Nd}{1,2}[./-]\p{Nd}{1,2}[./-]|\p{Nd}{1,2}[:.h]\p{Nd}{2}(?!\p{Nd})|\p{Nd}月|\p{Nd}월/iu;
/** Atmail: `On Tue 06/01/26 10:11 AM , Ann ann@example.com sent:`. */
const ATMAIL =
  /^On \p{L}{2,10}\.? \p{Nd}{1,2}\/\p{Nd}{1,2}\/\p{Nd}{2,4} \p{Nd}{1,2}:\p{Nd}{2}(?: [AP]M)? , [^\p{Nd}:,@<>]{0,60}<?[^\s@<>]{1,64}@[^\s@<>]{1,120}>? {0,2}sent:$/iu;
/** Mail.ru, behind its signature in the same line: `Sent from Mail Tuesday, 6 January 2026, 10:11 +03:00 from Ann ann@example.com:` */
const MAIL_RU =
  /(?:^|\s)\p{L}[\p{L}-]{2,20}, (?:\p{Nd}{1,2}\.? (?:de )?\p{L}{3,20}(?: de)?|\p{L}{3,20} \p{Nd}{1,2}),? \p{Nd}{4}(?: г\.)?,? \p{Nd}{1,2}:\p{Nd}{2}(?: [ap]m)? [+-]\p{Nd}{2}:?\p{Nd}{2} (?:from|от|von|de|від|да|од|da|od|van|от имени) [^:]{0,80}[^\s@<>:]{1,64}@[^\s@<>:]{1,200}:$/iu;
/** Yandex: `06.01.2026, 10:11, Ann Smith (ann@example.com):` */
const YANDEX =
  /^\p{Nd}{1,2}[./]\p{Nd}{1,2}[./]\p{Nd}{4},? \p{Nd}{1,2}:\p{Nd}{2},? [^:]{0,80}[<(][^<>()\s@]{1,64}@[^<>()\s]{1,200}[>)]:$/u;
/** A line of Yandex or of a log: `2026-01-06 10:11:12, Ann Smith (ann@example.com):` */
export const MOMENT_AND_NAME =
  /^\p{Nd}{1,4}[./-]\p{Nd}{1,2}[./-]\p{Nd}{1,4},? \p{Nd}{1,2}:\p{Nd}{2}(?::\p{Nd}{2})?,? [^:]{0,80}[<(][^<>()\s@]{1,64}@[^<>()\s]{1,200}[>)]:$/u;
/** A date near the begin of a line. */
export const EARLY_DATE =
  /^.{0,40}?(?:(?<![a-z\p{Nd}])\p{Nd}{4}(?!\p{Nd})|\p{Nd}{1,2}[./-]\p{Nd}{1,2}[./-]\p{Nd}|\p{Nd}{1,2}:\p{Nd}{2}|\p{Nd}{1,2}\.? \p{L}{3,})/iu;
export const NAME_AND_ADDRESS = /^(?!mailto:)[^<>@]{1,80}<[^<>\s]{1,120}@[^<>\s]{1,120}>/u;
export const ADDRESS = /@[\p{L}\p{N}]/u;
const ADDRESS_END = /<[^<>]{0,80}@[^<>\s]{1,120}>[:：\s>)*"'’]{0,4}$/u;
const BRACKETED_ADDRESS = /[<([][^<>()[\]\s@]{1,64}@[^<>()[\]\s]{1,200}[>)\]]/u;
const YEAR_AND_SECONDS =
  /(?<!\p{Nd})\p{Nd}{4}(?!\p{Nd}).{0,60}?(?<!\p{Nd})\p{Nd}{1,2}[:.]\p{Nd}{2}[:.]\p{Nd}{2}(?!\p{Nd})/u;
const YEAR_AND_TIME = /(?<!\p{Nd})\p{Nd}{4}(?!\p{Nd}).{0,60}?(?<!\p{Nd})\p{Nd}{1,2}[:.]\p{Nd}{2}/u;
/** At most two words before a date, or a name before its address, and not a sentence: `Book the room of 6 January 2026, 10:11 with`. */
const PERSON_OR_DATE_FIRST =
  /^[^\p{L}\p{Nd}]{0,4}(?:(?:[\p{L}\p{M}'’()-]{1,16}[.,:]{0,2} ){0,2}[\p{L}\p{M}]{0,16}\p{Nd}|(?:\p{Lu}[\p{L}\p{M}'’.-]{0,30},? ){0,4}["'“”]?[<(][^<>()\s@]{1,64}@)/u;
/** alot: `Ann Smith (2026-01-06 10:11:12)` */
const NAME_AND_DATE =
  /^(?:\p{L}{1,20} )?\p{Lu}[^.!?()]{1,60} \(\p{Nd}{4}-\p{Nd}{2}-\p{Nd}{2} \p{Nd}{1,2}:\p{Nd}{2}(?::\p{Nd}{2})?\)[:：]?$/u;
/** Nextcloud: `"Ann Smith" <ann@example.com> – January 6, 2026 10:11 AM`, also without brackets */
export const NAMED_MOMENT =
  /^["'“„]?\p{L}[^<>@]{0,80}[<\s"][^<>\s@]{1,64}@[^<>\s]{1,200}>?\s?[,–—-]?\s(?=[^<>@]{0,60}(?<!\p{Nd})\p{Nd}{4}(?!\p{Nd}))[^<>@]{4,60}\p{Nd}{1,2}[:.]\p{Nd}{2}(?:[:.]\p{Nd}{2})?(?: ?[ap]\.?m\.?)?$/iu;
/** The end of an introduction without a colon. */
export const WROTE_END = new RegExp(`(?<!\\p{L})(?:${WROTE})$`, 'iu');
/** A person wrote something: `Le 6 janvier, il a écrit un livre :`. A date may follow: `Ann schrieb am 06.01.2026:`. */
const WROTE_SOMETHING = new RegExp(`(?<!\\p{L})(?:${WROTE})\\s\\p{Ll}{2,}[^\\p{Nd}]*$`, 'u');
/** Characters of an introduction that is known by its date and address. */
const MAX_ATTRIBUTION_LENGTH = 200;
/** Yahoo and old Gmail: `2016-03-03 17:21 GMT+01:00 Ann`. */
export const GMT_LINE = /^\p{Nd}{4}-\p{Nd}{2}-\p{Nd}{2} \p{Nd}{1,2}:\p{Nd}{2} GMT[+-]\p{Nd}{2}:\p{Nd}{2} \S/u;

/** An author who quotes such a line, or refers to what someone wrote: `As you wrote on 6 January:`. */
const CITED =
  /^(?:["“„«'‘](?=.{0,300}[:：]["”“»'’]$)|(?:as|like|what|wie|was|comme|ce que|come|quello che|como|lo que|o que|zoals|wat|som|hvad|vad|hva|jak|co|kuten|как|что|як|що|amint|ahogy|cum|ceea ce) \p{L})/iu;

/** Words of prose behind the word for writing; names, dates and addresses are none. */
const MAX_PROSE_WORDS = 4;
const PROSE_WORD = /^\p{Ll}{3,}[,.:]?$/u;

/** Whether what is behind the word for writing is a sentence: `I wrote to ann@example.com and asked for the file, but nothing came:`. */
function goesOn(joined: string): boolean {
  const found = WROTE_WORD.exec(joined);
  if (found === null) return false;
  const behind = joined.slice(found.index + found[0].length).split(' ');
  return behind.filter((word) => PROSE_WORD.test(word)).length > MAX_PROSE_WORDS;
}

/** Whether one to some lines, joined, say who wrote what follows. `isApart`: they are a paragraph. */
export function introduces(joined: string, isQuoteNext: boolean, isApart: boolean): boolean {
  if (GMT_LINE.test(joined) && joined.length < 120) return true;
  if (isQuoteNext && (NAME_AND_DATE.test(joined) || NAMED_MOMENT.test(joined))) return true;
  if (ATMAIL.test(joined)) return true;
  if (YANDEX.test(joined)) return true;
  if (isApart && MAIL_RU.test(joined)) return true;
  const hasDate = DATE.test(joined);
  const hasAddress = ADDRESS.test(joined);
  const isOpen = /[:：៖]\W{0,3}$|(?<=գրել է)\.$/u.test(joined) || /-{2,}$/u.test(joined);
  const isWrote = WROTE_WORD.test(joined);
  if (!isQuoteNext && (CITED.test(joined) || (isOpen && isWrote && goesOn(joined)))) return false;
  if (isOpen && isWrote && !isQuoteNext && !hasAddress && WROTE_SOMETHING.test(joined)) return false;
  if (isOpen && isWrote && hasDate && !hasAddress && !isQuoteNext)
    if (!isDatedAttribution(joined) || !namesAuthor(joined)) return false;
  if (isOpen && isWrote) return hasDate || hasAddress || isQuoteNext;
  const isShort = joined.length <= MAX_ATTRIBUTION_LENGTH;
  if (isOpen && isQuoteNext && isShort && (hasAddress || (hasDate && EARLY_DATE.test(joined)))) return true;
  // In a language that the reader does not know, or without a colon.
  const isFull = hasDate && isShort && BRACKETED_ADDRESS.test(joined);
  if (isFull && isApart && isOpen) return YEAR_AND_TIME.test(joined) && PERSON_OR_DATE_FIRST.test(joined);
  if (isFull && isApart && isWrote && (WROTE_END.test(joined) || ADDRESS_END.test(joined))) return LEAD.test(joined);
  if (isQuoteNext && isWrote && hasDate && isShort && LEAD.test(joined)) return true;
  if (isQuoteNext && isWrote && hasAddress && hasDate && isShort) return true;
  return hasDate && EARLY_DATE.test(joined) && ADDRESS_END.test(joined) && (isOpen || isQuoteNext);
}

const TIME = /(?<!\p{Nd})\p{Nd}{1,2}[:.h時시点]\p{Nd}{2}/u;
const DATE_FIRST = /^\W{0,4}(?:\p{L}{2,12}[.,]{0,2} )?\p{Nd}/u;
/** A day, and not a year alone: `He wrote in 1851:`. */
const DAY = String.raw`\p{Nd}{1,2}(?:[./-]\p{Nd}|\.? ?(?:de )?\p{L}{3}|[月日일])|\p{L}{3}\.? \p{Nd}{1,2}(?!\p{Nd})|\p{Nd}{4}[./-]\p{Nd}`;
const WROTE_BEFORE_DATE = new RegExp(`(?<!\\p{L})(?:${WROTE})[^.!?]{0,30}(?:${DAY})`, 'iu');

/** A year alone is no date of a mail: `In 1851 Melville wrote:`. */
const DAY_OR_TIME = new RegExp(
  `(?<!\\p{Nd})(?:${DAY})|\\p{Nd}{1,2}[:.h時시点]\\p{Nd}{2}|\\p{L}{3,}\\.? \\p{Nd}{1,2}(?!\\p{Nd})`,
  'u',
);

/** Whether a date is where mail programs write it, and not within a sentence: `I met Ann on 6 January 2026 and she wrote:`. */
function isDatedAttribution(joined: string): boolean {
  if (!DAY_OR_TIME.test(joined)) return false;
  return LEAD.test(joined) || DATE_FIRST.test(joined) || TIME.test(joined) || WROTE_BEFORE_DATE.test(joined);
}

/** Articles and pronouns that are in no name, as `der` and `de` are. */
const NO_NAME = new RegExp(
  `(?<!\\p{L})(?:${DETERMINERS.split('|')
    .filter(
      (word) => word.length > 2 && !/^(?:der|die|das|den|los|las|dos|het|ten|son|ben|han|hon|hun|min|ona)$/.test(word),
    )
    .join('|')})(?!\\p{L})`,
  'u',
);
const FIRST_DETERMINER = new RegExp(`^[\\s,.:;]{0,4}(?:${DETERMINERS})(?!\\p{L})`, 'u');

/** Whether a name may be beside the word for writing, and not a noun or a sentence: `On 6 January 2026 the court wrote:`. */
function namesAuthor(joined: string): boolean {
  const found = WROTE_WORD.exec(joined);
  if (found === null) return true;
  const before = joined.slice(0, found.index).replace(/^.*\p{Nd}/su, '');
  const behind = joined.slice(found.index + found[0].length).replace(/^\p{L}*(?:\(\p{L}{1,3}\))?/u, '');
  if (!/[\p{Lu}\p{Lt}\p{Lo}]/u.test(`${before}${behind}`)) return false;
  // `Ann schrieb am 6. Januar 2026, dass sie kommt:`
  if (/\p{Nd}(?:[^\p{Nd}]*(?<!\p{L})\p{Ll}{2,}(?!\p{L})){3}[^\p{Nd}]*$/u.test(behind)) return false;
  return ![before, behind].some((words) => FIRST_DETERMINER.test(words) || NO_NAME.test(words));
}
