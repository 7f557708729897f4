import { saysLeft } from '../sending/unknown-addressee.ts';
import { compileLater } from '../shared/lazily.ts';
import {
  ABOUT_WORDS,
  ABSENCE_STEMS,
  ABSENT_WORDINGS,
  ANSWER_STEMS,
  ASIDE_WORDS,
  ATTACHED,
  AUTOMATIC_STEMS,
  AUTOMATIC_SUBJECTS,
  AWAY_WORDS,
  CLOSED_WORDS,
  CONFIRM_WORDS,
  CONTACTED,
  DENIED,
  HANDLED_WORDS,
  I_AM,
  LIST_ROBOTS,
  MADE_STEMS,
  MAILS,
  NOT_PASSED_ON,
  NOTICE_STEMS,
  OTHERS_TO_ASK,
  RECEIVED,
  REOPENS,
  REPLY_STEMS,
  RETURNS,
  SETTLED,
  SEVERAL,
  SOON,
  THANKS,
  THIS_MAILBOX,
  THIS_MESSAGE,
  UNATTENDED,
  UNREAD_WORDS,
  WAITING,
  WHICH,
  WILL_REPLY,
  YOUR_MAILS,
  YOURS,
} from './automatic-wordings.ts';
import { fieldText, firstField, type HeaderSection } from './header-fields.ts';
import { stripQuotedText } from './reply-text.ts';

/** Characters of a text in which it says that a program wrote it. */
const MAX_START_LENGTH = 800;

/**
 * Returns whether a field or the subject (lower case) marks a reply that a program wrote: RFC 3834 §5, and programs that precede it. A person
 * may have written the text below such a subject.
 */
export function isAutomaticReply(header: HeaderSection, subject: string, statement: string): boolean {
  return (
    /^auto-replied/i.test(fieldText(header, 'auto-submitted')) ||
    AUTOMATIC_FIELDS.some((name) => firstField(header, name) !== null) ||
    /vacation/i.test(fieldText(header, 'x-apple-action')) ||
    /auto[_-]?reply/i.test(fieldText(header, 'precedence')) ||
    (isAutomaticSubject(subject) && !isOfPerson(header, subject, statement))
  );
}

/** Whether a text below an automatic subject is no notice: a reply above the notice that it quotes, or new mail that greets several or asks. */
function isOfPerson(header: HeaderSection, subject: string, statement: string): boolean {
  const own = stripQuotedText(statement);
  const words = joinParagraphs(own);
  if (SAYS_SELF_AWAY.test(words) || SAYS_GENERATED.test(words)) return false;
  if (firstField(header, 'in-reply-to') !== null || firstField(header, 'references') !== null)
    return REPLY_MARK.test(subject) && own.length < statement.trim().length;
  return GREETS_SEVERAL.test(words) || asksWithin(statement);
}

/** Returns the begin of a text in lower case, in which the end of a paragraph ends a sentence. */
function joinParagraphs(text: string): string {
  return text
    .slice(0, MAX_START_LENGTH)
    .toLowerCase()
    .replace(/\s*\n\s*\n\s*/g, '. ')
    .replace(/\s+/g, ' ');
}

const GREETS_SEVERAL = compileLater(() => `^(?:${SEVERAL})(?!\\p{L})`);

/** Returns whether a subject, in lower case, is one of automatic replies. */
export function isAutomaticSubject(whole: string): boolean {
  const subject = whole.slice(GATEWAY_TAG.exec(whole)?.[0].length);
  const words = withoutReplyMarks(subject);
  if (FORWARD_MARK.test(subject)) return false;
  if (ABOUT_REPLIES.test(words) || IS_QUESTION.test(words) || ABSENCE_OF.test(words)) return false;
  const named = withoutAccents(words.slice(0, MAX_ABSENT_LENGTH));
  return (
    AUTOMATIC_SUBJECTS.some((wording) => words.startsWith(wording)) ||
    AUTOMATIC_REPLY.test(named.slice(0, MAX_NAMED_LENGTH)) ||
    AUTOMATIC_TAG.test(named) ||
    isAbsenceNotice(subject) ||
    saysAbsent(words)
  );
}

/** What gateways write before the subject of mail from elsewhere: `[External]`, `EXT:`, `*** SPAM ***`. */
const GATEWAY_TAG =
  /^(?:[[(<*]{1,3}\s?(?:ext(?:ern(?:al|e[rs]?|o|es|a|í)?)?|outside|caution|warning|(?:suspected |possible )?spam|bulk|junk|virus[- ]free|внешн\p{L}{2}|外部|社外)(?: (?:e-?mail|sender|mail|message))?[!:?]?\s?[\])>*]{1,3}|ext(?:ern(?:al)?)?:)\s{0,3}/u;

/** Returns whether a subject, in lower case, names a notice of an absence, as people do who ask about one, or give one. */
export function isAbsenceNotice(subject: string): boolean {
  return ABSENCE_NOTICE.test(withoutReplyMarks(subject).slice(0, MAX_ABSENT_LENGTH));
}

function withoutReplyMarks(subject: string): string {
  return subject.replace(/^(?:(?:re|aw|fwd?|sv|antw?)\s{0,3}:\s{0,3}){1,5}/, '');
}

const REPLY_MARK = /^(?:re|aw|sv|vs|antw?|odp|ynt|rif|res|回复|答复|回覆)\s{0,3}[:：]/;
/** People forward what programs wrote. */
const FORWARD_MARK =
  /^(?:(?:re|aw|sv)\s{0,3}:\s{0,3}){0,3}(?:fwd?|wg|tr|rv|enc|i|vb|vl|ilt|pd|doorst|továbbítva|пересл|转发|轉寄|転送|전달)\s{0,3}[:：]/;

/** `Out of office next week?`: the subject that a program repeats is behind a colon. */
const IS_QUESTION = /^[^:：]*[?？]\s*$/;
/** `休假通知`, `Avis d'absence`: a word for an absence and one for a notice, and nothing else before a colon. */
const ABSENCE_NOTICE = new RegExp(
  `^[\\[【(]?(?:\\S{0,12}(?:${ABSENCE_STEMS})\\S{0,6}? ?(?:${NOTICE_STEMS})|(?:${NOTICE_STEMS})\\S{0,6} (?:\\p{L}{1,5}['’ ])?(?:${ABSENCE_STEMS}))[\\p{L}\\]】)]{0,8}\\s{0,3}(?:[:：–—-]|$)`,
  'u',
);

/** Returns a text in which Latin letters have no accents: languages differ in these alone, as in `automātiska` and `automática`. */
function withoutAccents(text: string): string {
  return text.replace(/[\u00c0-\u024f\u1e00-\u1eff]/gu, (letter) => letter.normalize('NFD').charAt(0));
}

const AUTOMATIC = withoutAccents(AUTOMATIC_STEMS);
const REPLY = withoutAccents(REPLY_STEMS);
/** What is behind the name of such a reply. People go on: `Automatische Antwort geht nicht`. */
const NAME_END = String.raw`\s{0,3}(?:[:：\])）】!–—-]|$| (?:from|to|re|von|auf|van|op|till|til|от|на)(?!\p{L}))`;
/** `Аўтаматычны адказ: …`: the two words in any order and language, `Yahoo! Auto Response`, and nothing else before the colon. */
const AUTOMATIC_REPLY = compileLater(
  () =>
    String.raw`^[[(【]?(?:[\p{L}!]{1,10} )?(?:\S{0,6}(?:${AUTOMATIC})\S{0,20} {0,2}\S{0,8}(?:${REPLY})\S{0,12}|\S{0,8}(?:${REPLY})\S{0,14} {0,2}\S{0,6}(?:${AUTOMATIC})\S{0,16}|auto ?(?:repl|resp|risp|svar|antw|odp|odg)\S{0,12})${NAME_END}`,
);
/** `【自動返信】…` and `… (automatic reply)` */
const AUTOMATIC_TAG = compileLater(
  () => `[([（【]\\S{0,4}(?:${AUTOMATIC})[^()[\\]（）【】]{0,14}(?:${REPLY})[^()[\\]（）【】]{0,8}[)\\]）】]`,
);
/** `Abwesenheit von Max am Montag`: people speak of the absence of another. */
const ABSENCE_OF =
  /^(?:absence|abwesenheit|aus[eê]ncia|assenza|afwezigheid|frånvaro|fravær) (?:of|von|d['’]|de|da|do|di|van|av|af|för|for) ?(?!\p{Nd}|bureau|l|o escrit|escrit|ufficio|kantoor|mo?n)\p{L}/u;
/** Characters of a subject in which it is named. */
const MAX_NAMED_LENGTH = 80;

/** What people write about such replies: `Automatic reply settings`, `Auto reply on my phone does not work`. */
const ABOUT_REPLIES =
  /^auto(?:matic|mated)?[ -]?(?:repl(?:y|ies)|respon\w{1,6})(?:'s)? (?:(?:(?:e-?mails?|messages?|texts?|out of office) )?(?:settings?|rules?|features?|templates?|config\w{0,10}|set-?up|options?|functions?|functionality|problems?|issues?|bugs?|questions?|polic(?:y|ies)|loops?|wording|drafts?|filters?|systems?|software|tools?|plug-?ins?|bots?|keeps?|stopped|broken|missing|enabled|disabled|(?:is|are|was|were|does|do|did) not|(?:is|are|was|were|does|do|did)n['’]?t|fails?|failed|failing|not|how|why)(?!\p{L})|.{0,60}(?<!\p{L})(?:(?:do|does|did|is|are)(?: not|n['’]?t)|not|stopped) work(?:s|ed|ing)?(?!\p{L}))/u;

/** Whether a name is before, and nothing but dates is behind what says that someone is away. */
function saysAbsent(subject: string): boolean {
  if (subject.length > MAX_ABSENT_LENGTH) return false;
  return ABSENT_WORDINGS.some((wording) => {
    const at = subject.indexOf(` ${wording}`);
    if (at < 2 || /[:?!]/.test(subject.slice(0, at))) return false;
    return /^(?:[.!]|\s*[(,–-]|\s(?:until|till|from|since|returning|and will|von|vom|bis|seit|jusqu|du |depuis|hasta|desde|del|fino|dal|tot|van|até|de |do |fra|til|från|od|do |с |до )|\s?$)/u.test(
      subject.slice(at + wording.length + 1),
    );
  });
}

/** Characters of a subject that names who is away. */
const MAX_ABSENT_LENGTH = 150;

/** Fields of automatic replies, of programs that precede RFC 3834; lower case. */
export const AUTOMATIC_FIELDS: readonly string[] = [
  'x-autoreply',
  'x-autorespond',
  'x-autoresponder',
  'x-autoresponse',
  'x-auto-reply',
  'x-mail-autoreply',
  'x-autogenerated',
];

/** `Your message`, `Ihre Anfrage`, `お問い合わせ` */
const YOUR_MAIL = String.raw`(?:(?<!\p{L})(?:${YOURS}) ?(?:\p{L}{1,12} )?(?:${MAILS})|(?<!\p{L})(?:${YOUR_MAILS}))`;
/** Words begin here: scripts of Asia and the Semitic ones write others right before them. */
const WORD_BEGIN = String.raw`(?<![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}])`;
/** Within a sentence. */
const NEAR = '[^.!?。]{0,80}?';
/** Says that a message waits, and that its sender must confirm something: `Your message to Joe is held until you click here once`. */
const WAITS = compileLater(() => `${YOUR_MAIL}${NEAR}(?:${WAITING})|o e-?mail que você[^.!?]{0,80}(?:${WAITING})`);
const CONFIRMS = compileLater(() => CONFIRM_WORDS);

/**
 * Returns whether a program wrote a message that is no report: a challenge, the response of a list server, or one that says that it was
 * generated (RFC 3834 §5), that its mailbox is not read, that its author is away and whom to ask instead, that mail arrived and will be
 * replied to, or of the owner of its mailbox that they left. `isOwn`: it is no reply of a person, who may repeat such words, and asks
 * nothing. `isGreeting`: it begins as a letter to a person.
 */
export function isOfProgram(
  header: HeaderSection,
  {
    subject,
    statement,
    isOwn,
    isGreeting,
  }: { subject: string; statement: string; isOwn: boolean; isGreeting: boolean },
): boolean {
  if (/^auto-/i.test(fieldText(header, 'auto-submitted'))) return true;
  // A subscription that its reader must confirm is no reply.
  if (LIST_ROBOT.test(fieldText(header, 'from').toLowerCase()) && !/^(?:re: )?confirm/.test(subject)) return true;
  const start = statement.slice(0, MAX_START_LENGTH).replace(/\s+/g, ' ').toLowerCase();
  if (WAITS.test(start) && CONFIRMS.test(start)) return true;
  if (firstField(header, 'list-unsubscribe') !== null || asksWithin(statement)) return false;
  const own = stripQuotedText(statement).slice(0, MAX_START_LENGTH).replace(/\s+/g, ' ');
  const words = own.toLowerCase();
  const isNotice = isAbsenceAlone(words);
  if (!isOwn)
    return (
      (isNotice && SAYS_RETURN.test(words)) ||
      SAYS_ANSWERED.test(joinParagraphs(stripQuotedText(statement))) ||
      (!SPEAKS_OF_SELF.test(words) && isMailboxNotice(words))
    );
  return (
    SAYS_GENERATED.test(words) ||
    SAYS_UNREAD.test(words) ||
    isNotice ||
    (SAYS_AWAY.test(words) && (SAYS_ASIDE.test(words) || PROMISES.test(words))) ||
    (SAYS_CLOSED.test(words) && (SAYS_REOPENS.test(words) || PROMISES.test(words))) ||
    (!BRINGS.test(words) && (confirmsMail(subject, words) || promisesReply(words, isGreeting))) ||
    saysOwnerLeft(fieldText(header, 'from'), own) ||
    ABSENCE_BEFORE_REPLY.test(subject)
  );
}

/** Whether a reply says first that its mailbox is not read, or of an office that it is closed and what happens to the reader's mail. */
function isMailboxNotice(words: string): boolean {
  const [first = '', second = ''] = words.split(/(?<=[.!。])\s/u);
  if (SAYS_UNREAD.test(`${first} ${second}`)) return true;
  const isClosed = SAYS_CLOSED.test(words) && (SAYS_REOPENS.test(words) || PROMISES.test(words));
  return isClosed && !BRINGS.test(words) && (NAMES_MAIL.test(words) || THANKS_FOR_MAIL.test(words));
}

const NAMES_MAIL = compileLater(() => YOUR_MAIL);

/** Whether an author says of themselves that they are away, and whom to ask, and of other things nothing: people add these to what they write. */
function isAbsenceAlone(words: string): boolean {
  const sentences = words.split(/(?<=[.!。])(?<!(?<!\d)\d{1,2}\.)\s+/u);
  const ofNotice = [SAYS_SELF_AWAY, SAYS_ASIDE, NAMES_OTHERS, SAYS_RETURN, THANKS_FOR_MAIL, PROMISES];
  const isSignOff = (sentence: string) => sentence.split(' ').length <= MAX_SIGN_OFF_WORDS;
  return (
    !BRINGS.test(words) &&
    SAYS_SELF_AWAY.test(words) &&
    (SAYS_ASIDE.test(words) || NAMES_OTHERS.test(words)) &&
    sentences.every(
      (sentence, at) =>
        ofNotice.some((pattern) => pattern.test(sentence)) || (at === sentences.length - 1 && isSignOff(sentence)),
    )
  );
}

const MAX_SIGN_OFF_WORDS = 6;

/** Whether a message says of the reader's mail that it arrived, and when it will be handled, or its number, or that it goes no further. */
function confirmsMail(whole: string, words: string): boolean {
  const subject = whole.slice(0, MAX_ABSENT_LENGTH);
  if (SPEAKS_OF_SELF.test(words)) return NOT_PASSED.test(words);
  const sentences = `${subject}. ${words}`.split(/(?<=[.!。])\s|\n/u);
  if (sentences.some((one) => TICKET.test(one) && (HAS_MAIL.test(one) || IS_SETTLED.test(one)))) return true;
  if (NOT_PASSED.test(words)) return true;
  return HAS_MAIL.test(`${subject}. ${words}`) && (SAYS_SOON.test(words) || PROMISES.test(words) || TAG.test(subject));
}

/** Whether a message thanks for the reader's mail and says that it will be replied to. */
function promisesReply(words: string, isGreeting: boolean): boolean {
  return (
    THANKS_FOR_MAIL.test(words) &&
    (PROMISES.test(words) || SAYS_ASIDE.test(words)) &&
    !(isGreeting && SPEAKS_OF_SELF.test(words))
  );
}

/** Whether a sentence of some words asks something, before others: people do so, while programs write `Questions? Call us.` */
function asksWithin(statement: string): boolean {
  for (const { index } of statement.slice(0, MAX_START_LENGTH).matchAll(/[?？؟](?=\s|$|\p{L})/gu)) {
    const sentence =
      statement
        .slice(Math.max(0, index - MAX_QUESTION), index)
        .split(/[.!?。！？\n]\s?/u)
        .at(-1) ?? '';
    if (!sentence.includes('://') && (sentence.split(' ').length >= LEAST_QUESTION_WORDS || IDEOGRAPHS.test(sentence)))
      return true;
  }
  return false;
}

const MAX_QUESTION = 120;
const LEAST_QUESTION_WORDS = 4;
const IDEOGRAPHS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{6}/u;

/** `LISTSERV@…`, `club-request@…` */
const LIST_ROBOT = new RegExp(
  `(?:^|[<\\s])(?:(?:${LIST_ROBOTS})(?:[+-][^@\\s<>]{0,80})?|[^@\\s<>]{1,80}-(?:request|confirm|subscribe|unsubscribe))@`,
  'u',
);
/** Says of the reader's mail that it arrived, in any order: `We have received your message`, `Ihre Anfrage ist eingegangen`. */
const HAS_MAIL = compileLater(() => `${YOUR_MAIL}${NEAR}(?:${RECEIVED})|(?:${RECEIVED})[^.!?。]{0,30}?${YOUR_MAIL}`);
/** Programs that confirm what arrived say `we`, or nothing of themselves. */
const SPEAKS_OF_SELF =
  /(?<!\p{L})(?:i(?! (?:nostri|suoi|tuoi|vostri|messaggi|na|w|z|do|den|det|en|ett|et|dag|morgen|januari?|december|desember)(?!\p{L}))|i['’](?:ve|m|ll|d)|ich|je|j['’]|yo|io|eu|ik|jag|jeg|ja|já|я|ben|my|mein\p{L}{0,2}|mon|mi|mio|meu|mijn)(?!\p{L})/u;
const THANKS_FOR_MAIL = compileLater(
  () =>
    `(?:${THANKS})[^.!?。]{0,40}?(?:${YOUR_MAIL}|(?:${CONTACTED}))|(?:${YOUR_MAIL}|(?:${CONTACTED}))[^.!?。]{0,30}?(?:${THANKS})`,
);
const PROMISES = compileLater(() => WILL_REPLY);
const SAYS_SOON = compileLater(() => `${WORD_BEGIN}(?:${SOON})`);
const SAYS_CLOSED = compileLater(() => `${WORD_BEGIN}(?:${CLOSED_WORDS})`);
const SAYS_REOPENS = compileLater(() => `${WORD_BEGIN}(?:${REOPENS})`);
const IS_SETTLED = compileLater(() => `${WORD_BEGIN}(?:${MAILS})${NEAR}(?:${SETTLED})`);
const NOT_PASSED = compileLater(() => `${YOUR_MAIL}${NEAR}(?:${NOT_PASSED_ON})`);
const BRINGS = compileLater(() => `${WORD_BEGIN}(?:${ATTACHED})`);
/** A number in brackets or behind a hash, or of a tracker at the begin. */
const TAG = /[[(#＃№]\s?:?\p{L}{0,10}[-#: ]{0,2}\d{3}|^[a-z]{2,10}-\d{2}/u;
/** `#4821`, `[Ticket#31001]`, `OPS-311`, `number 4821` */
const TICKET =
  /[#＃№]{1,2}\s?:?\p{L}{0,4}-?\d{3}|[[(]\p{L}{0,10}[-#: ]{0,2}\d{3}|(?<![\p{L}\d])[a-z]{2,10}-\d{2,}(?!\d)|(?:number|nummer|num[ée]ro|número|numero|номер\p{L}{0,2}|nr\.?|no\.?|id|番号|编号|编號|번호)\s?[:：]?\s?\p{L}{0,4}-?\d{3}/u;

/** What a message calls itself, or how it was made. */
const NOTICE = `(?:${REPLY_STEMS}|generat|génér|gener[aiou]|gerad|erzeugt|erstellt|wygener|vygener|сгенер|створен|mail|courriel|correo|発送|送信|发送|發送|생성|발송)`;
/** Words between, which deny or change nothing. */
const BETWEEN = `(?:(?!(?<!\\p{L})(?:${ABOUT_WORDS})(?!\\p{L})|${DENIED})[^.!?。।])`;
/** Behind what was done automatically. */
const NOT_HANDLED = `(?![^.!?。।]{0,40}?(?:${DENIED}|${HANDLED_WORDS}))`;
/**
 * A sentence of a message about itself: `This is an automatic reply`, `Este mensaje se ha generado automáticamente`, or one that only says
 * so: `Mensagem automática, não responda.`
 */
const SAYS_GENERATED = compileLater(
  () =>
    `(?:^|[.!。:*–—-] {0,2})(?:(?:${THIS_MESSAGE})${BETWEEN}{0,40}?(?:${NOTICE}${BETWEEN}{0,40}?(?:${AUTOMATIC_STEMS})|(?:${AUTOMATIC_STEMS})\\S{0,16}(?: \\S{1,20}){0,2}? ?\\S{0,8}${NOTICE})${NOT_HANDLED}|(?:\\S{0,8}${NOTICE}\\S{0,8} (?:\\S{1,12} )?(?:${AUTOMATIC_STEMS})\\S{0,10}|(?:${AUTOMATIC_STEMS})\\S{0,12} ?\\S{0,6}${NOTICE}\\S{0,8})(?:[.,;!。–—]| -|$))`,
);
/** The same, of one clause. */
const WITHIN = `(?:(?![,;:，、])${BETWEEN})`;
/** The same in a reply, where people speak of such messages, too: a sentence of this alone. */
const SAYS_ANSWERED = compileLater(
  () =>
    `(?:^|[.!?。।] ?)[*※(\\[_–—-]{0,4} ?(?!(?:this|diese|deze|denne|cette|est[ae]|essa|quest[ao]|tato) (?:\\S{0,4}(?:${ANSWER_STEMS})\\S{0,8} )?(?:${AUTOMATIC_STEMS}))(?:${THIS_MESSAGE})${WITHIN}{0,30}?(?:(?:${AUTOMATIC_STEMS})${WITHIN}{0,24}?(?:${ANSWER_STEMS}|${MADE_STEMS})|(?:${ANSWER_STEMS}|${MADE_STEMS})${WITHIN}{0,24}?(?:${AUTOMATIC_STEMS}))${NOT_HANDLED}[^\\s.,;:!。।]{0,24}(?:(?! (?:${WHICH}|we|i|wir)(?!\\p{L})) [^\\s.,;:!。।]{1,20}){0,4} {0,2}(?:[.;!。।)\\]–—*_]|,(?! ?(?:${WHICH})(?!\\p{L}))|$)`,
);
/** A sentence of a mailbox about itself: `This mailbox is not monitored`. */
const SAYS_UNREAD = new RegExp(`(?:${THIS_MAILBOX})[^.!?。]{0,30}?(?:${UNREAD_WORDS})|${UNATTENDED}`, 'u');
/** Two sentences of a notice: that its author is away, and whom to ask or when the mail will be read. People say one of them. */
const SAYS_AWAY = compileLater(() => `${WORD_BEGIN}(?:${ABSENCE_STEMS}|${AWAY_WORDS})`);
const SAYS_ASIDE = new RegExp(ASIDE_WORDS, 'u');
const SAYS_SELF_AWAY = compileLater(() => `(?<!\\p{L})(?:${I_AM}) [^.!?;。]{0,30}?(?:${ABSENCE_STEMS}|${AWAY_WORDS})`);
const NAMES_OTHERS = compileLater(() => OTHERS_TO_ASK);
/** Beside the others it is a notice, also in a reply. */
const SAYS_RETURN = compileLater(() => RETURNS);
/** `Congé maternité Re: Offre`: what old programs write before the subject that they reply to. People write `Question re: offer`. */
const ABSENCE_BEFORE_REPLY = new RegExp(
  `^[\\p{L}'’ ]{0,40}(?:${ABSENCE_STEMS}|leave|${AWAY_WORDS})[\\p{L}'’ ]{0,40} (?:re|aw|sv|tr|rif|antw|odp|vs):`,
  'u',
);

/** What may be before the name of who left, and the words with which it goes on. */
const OPENING = `(?:^|[.!?,:] )(?:\\p{L}{2,12} ){0,3}`;
const VERBS =
  "(?:is|has|had|no|left|retired|ist|hat|arbeitet|a|est|n['’]est|ne|ya|ha|dejó|non|è|não|já|saiu|deixou|werkt|heeft|har|är|er|arbetar|arbejder|jobber|nie|już|odszedł|odeszła|již|už|nepracuje|odešel|nem|már|nu|больше|уже|не|уволил\\p{L}{1,3}|artık|emekli|ei|on)(?!\\p{L})";

/** Returns whether a mailbox says of its owner, whom its name names, that they left: people do not speak of themselves like this. */
function saysOwnerLeft(from: string, text: string): boolean {
  const [name] = /\p{Lu}\p{L}{1,19}/u.exec(from.replace(/<.*/su, '')) ?? [];
  if (name === undefined) return false;
  const [, said] =
    new RegExp(`${OPENING}${name}(?: \\p{Lu}[\\p{L}.'’-]{0,20}){0,2} (${VERBS}[^!?]{3,60})`, 'u').exec(text) ?? [];
  return said !== undefined && (saysLeft(said.toLowerCase()) || /^(?:has |is )?retired(?! from)(?!\p{L})/u.test(said));
}
