import { lazily } from '../shared/lazily.ts';
import { FULL_OF, saysFull } from './full-mailbox.ts';
import { reduceToHeads } from './phrase-heads.ts';
import { isHardReason, type RefusalReason } from './refusal-advice.ts';
import { GAP, WORDINGS } from './refusal-wordings.ts';
import { isOfAllowList, maySayFull, saysNothing } from './uncertain-clause.ts';
import { FOR_YOU, isAboutOther, isAboutThing, namesRecipient, saysLeft, unknownPartIn } from './unknown-addressee.ts';
import { isRecipientUnresolved } from './unresolved-domain.ts';
import { correctEnglish } from './word-patterns.ts';

/** The command that was refused, as far as it is known. */
export type RefusedCommand = 'sender' | 'recipient' | 'content';

/** A refusal, by a server's reply or in a report. */
export interface Refusal {
  /** of the SMTP reply; null when unknown */
  code: number | null;
  /** such as `5.1.1` (RFC 3463); null when missing */
  status: string | null;
  /** null when missing */
  text?: string | null;
  command?: RefusedCommand | null;
  /** the address that was refused, whose local part alone names it, too; null when unknown */
  recipient?: string | null;
}

/** Characters of a text that are searched for wordings. */
const MAX_TEXT_LENGTH = 2_000;

/** Returns why a server refused a message. Linear in the length of the text, which is cut. */
export function refusalReason(refusal: Refusal): RefusalReason {
  const { status, command = null } = refusal;
  const worded = isUnresolved(refusal) ? 'host_unknown' : reasonOfText(nameRecipient(refusal), status);
  const coded = reasonOfStatus(status) ?? reasonOfCode(refusal.code, status);
  const isPolicy = status !== null && /^[45]\.7\.\d/.test(status);
  if (worded === null) return command === 'sender' && coded === null ? 'sender_rejected' : (coded ?? 'unknown');
  if (worded === 'recipient_rejected' && coded === 'user_unknown' && isUnexplained(refusal.text ?? '')) return coded;
  if (!isHardReason(worded)) return isConfirmed(worded, coded, refusal) ? 'user_unknown' : worded;
  // The server asked to try again, and its status says nothing about the address.
  if (refusal.code !== null && Math.trunc(refusal.code / 100) === 4 && /^4\.[2-7]\.(?!7$)/.test(status ?? ''))
    return 'expired';
  const isAboutAddress = status !== null && /^[45]\.[12]\.(?!0$)/.test(status);
  // Servers put x.7.1 beside an unknown user, too. More specific statuses of policy are meant.
  const isUnspecific =
    (coded === null || coded === 'policy') && (worded === 'user_unknown' || worded === 'host_unknown');
  if (isOfAllowList(refusal.text ?? '')) return 'sender_rejected';
  if (isPolicy && (refusal.text ?? '').search(OR_DENIED) !== -1) return 'sender_rejected';
  if (isPolicy && (!isUnspecific || mayMeanAccess(refusal.text ?? '') || isAboutClient(worded, refusal.text ?? '')))
    return coded ?? 'policy';
  if (coded === 'sender_rejected' || (command === 'sender' && !isAboutAddress)) return 'sender_rejected';
  // 5.4.1: Microsoft's servers for an address that is not in the directory.
  if (mayMeanAccess(refusal.text ?? '')) return isAboutAddress || status === '5.4.1' ? worded : 'recipient_rejected';
  const isHidden = command === 'content' || status === '5.2.0';
  return isHidden && !isAboutAddress && isVague(refusal.text ?? '') ? 'recipient_rejected' : worded;
}

function isUnresolved({ status, text, recipient = null }: Refusal): boolean {
  return isRecipientUnresolved({ status, text: (text ?? '').slice(0, MAX_TEXT_LENGTH), recipient });
}

/**
 * Returns the text with the recipient's address in place of its local part where that is used as a name: quoted, first, or behind a word for
 * it. Of a callout that failed for the recipient, only its address stays: servers say the same of the sender's.
 */
function nameRecipient({ text, recipient }: Refusal): string {
  const [localPart = ''] = (recipient ?? '').toLowerCase().split('@');
  const cut = (text ?? '')
    .slice(0, MAX_TEXT_LENGTH)
    .replace(OR_DENIED, '')
    .replace(CALLOUT, (whole, address: string) =>
      address.toLowerCase() === recipient?.toLowerCase() ? address : whole,
    );
  const named = cut.replace(NOT_A, (whole, address: string) => (isSame(address, recipient) ? whole : 'the sender '));
  if (localPart.length < 2 || NO_NAME.test(localPart)) return named;
  return named.replace(
    /(?<=^[\s\d.:-]{0,20}|[:;.!] |["'<«„“(]|\b(?:user|account|mailbox|recipient|address|alias) )[^\s"'<>()«»„“”:;,!?@]{2,64}(?=["'>»“”)]|[:;,.!?]?(?:\s|$))/giu,
    (word) => (word.toLowerCase().replace(/\.$/, '') === localPart ? `${recipient}` : word),
  );
}

/**
 * Servers that tell no one whether a mailbox exists name a second reason: `Mailbox not found or access denied`. Beside a status of policy,
 * the second is meant.
 */
const OR_DENIED = /(?<!unavailable),? or access (?:is |was )?denied/gi;
/** An address that is said not to be one of a system, as the sender's is, too. */
const NOT_A =
  /<?(?<![^\s<>"'([:,;])([^\s<>"'()[\],:;@]{1,64}@[^\s<>"'()[\],:;]{1,255})[>)\]"']{0,2},? (?=(?:is not|isn['’]t|not|is no|ist kein\w{0,2}|n['’]est pas|no es|non è|não é|is geen|är ingen|är inte|er ikke|nie jest|není|nie je|не является|не є)(?: an?)?(?!\p{L}))/giu;

/** Returns whether an address of a refusal is its recipient, also at a host of the recipient's domain. */
function isSame(address: string, recipient: string | null | undefined): boolean {
  if (recipient == null) return true;
  const [one, other] = [address, recipient].map((each) => each.toLowerCase().split('@')) as [string[], string[]];
  const [domain = '', otherDomain = ''] = [one[1], other[1]];
  return (
    one[0] === other[0] &&
    (domain === otherDomain || domain.endsWith(`.${otherDomain}`) || otherDomain.endsWith(`.${domain}`))
  );
}

const CALLOUT =
  /(?:callback setup failed )?(?:while verifying|verification failed for) <?([^\s<>]{1,64}@[^\s<>:;,]{1,255})>?/gi;

/** Local parts that are words of refusals. */
const NO_NAME =
  /^(?:\d+|mail|e-?mail|message|server|host|sender|user|account|mailbox|recipient|address|domain|list|policy|no|not|error|service|system|database|backend|client|file|key|image|template|boundary|command|header|content|dns|smtp|the|this|your?|unknown|invalid|access|relay|spam|virus)s?$/;

/**
 * Returns whether a text says that a recipient is unknown, whatever else is in it, and a status or the recipient's own address beside it:
 * `5.1.1 Spam filter: no such recipient`, `Blocked: joe@example.com does not exist`.
 */
function isConfirmed(worded: RefusalReason, coded: RefusalReason | null, refusal: Refusal): boolean {
  const { text, status, recipient } = refusal;
  const isNamed = status === null && recipient != null && (text ?? '').toLowerCase().includes(recipient.toLowerCase());
  if (!BESIDE_UNKNOWN.has(worded) || !(coded === 'user_unknown' || (coded === null && isNamed))) return false;
  const searched = toSearched(nameRecipient(refusal));
  return (coded !== null || UNKNOWN_BEHIND.test(searched)) && unknownPartIn(reduceToHeads(searched)) === 'recipient';
}

/** Right behind an address. */
const UNKNOWN_BEHIND =
  /@addr>?:? (?:is (?:not|unknown|no)|isn't|does not|doesn't|has no|not|no|unknown|invalid|was not)(?!\p{L})/u;

/** What servers do, and not what they found out about a mailbox. */
const BESIDE_UNKNOWN: ReadonlySet<RefusalReason> = new Set([
  'blocked',
  'spam',
  'virus',
  'policy',
  'relay_denied',
  'security',
  'authentication_failed',
  'content_rejected',
]);

/** `Recipient address rejected` without a reason that the server's words give. */
function isUnexplained(text: string): boolean {
  return /(?:recipient|address) rejected/i.test(text) && !/preferences|denied|bounced/i.test(text);
}

/** Words about an unknown host beside a status of policy are usually about the client or the sender. */
function isAboutClient(reason: RefusalReason, text: string): boolean {
  return reason === 'host_unknown' && /sender|client|helo|ehlo|\bfrom\b|\byour\b|reverse|connect/i.test(text);
}

/** Filters hide behind these words when they refuse the content; a status about the address would confirm them. */
function isVague(text: string): boolean {
  return mayMeanAccess(text) || /user unknown|unknown user|no such user/i.test(text);
}

/** Servers refuse unknown users and unwanted senders with the same words, and tell them apart by the status only. */
function mayMeanAccess(text: string): boolean {
  // QQ uses one sentence for both, after the refused RCPT command.
  return /access denied/i.test(text.replace(OR_DENIED, '')) && !/mailbox unavailable or access denied/i.test(text);
}

/** Returns the reason that the wording of a text gives; null when no wording is known. */
function reasonOfText(text: string, status: string | null): RefusalReason | null {
  const labeled = toSearched(text);
  if (labeled === '') return null;
  const searched = labeled.replaceAll('@label', '@addr');
  const heads = reduceToHeads(labeled)
    .replace(/@label(?=[^.;!?]{0,60}@thing)/g, ' ')
    .replaceAll('@label', '@addr');
  for (const { reason, wordings } of MATCHERS()) {
    if (reason === 'mailbox_full' && FULL_OF.test(searched)) continue;
    if (
      wordings.some((wording) =>
        hasWording(reason === 'user_unknown' || reason === 'host_unknown' ? heads : searched, wording),
      )
    ) {
      if (reason === 'user_unknown' && maySayFull(searched)) return 'mailbox_full';
      return reason === 'mailbox_disabled' && saysLeft(searched) ? 'user_unknown' : reason;
    }
    if (reason !== 'user_unknown' || wordings.length < MIN_GENERAL_WORDINGS) continue;
    // `There is no room left in the mailbox` is not about an unknown one.
    if (saysFull(searched)) return 'mailbox_full';
    const part = unknownPartIn(heads, POLICY_STATUS.test(status ?? searched));
    if (part !== null) return part === 'domain' ? 'host_unknown' : 'user_unknown';
  }
  return null;
}

/** Of policy, of the refusal or the first in its text. */
const POLICY_STATUS = /^[^.]{0,40}(?<!\d)[45]\.7\.\d/;

/** The few exact wordings of unknown users come first; clauses are read after the many general ones. */
const MIN_GENERAL_WORDINGS = 50;

const MATCHERS = lazily(() =>
  WORDINGS.map(([reason, wordings]) => ({
    reason,
    wordings: withoutLonger(wordings).map(
      (wording): Wording => ({
        parts: wording.split(' ... '),
        isHard: isHardReason(reason),
        isHost: reason === 'host_unknown',
        isUnconditional: reason === 'mail_not_accepted',
        isLoose: reason === 'user_unknown' && wordings.length >= MIN_GENERAL_WORDINGS && !namesRecipient(wording),
        needsSubject: NEEDS_SUBJECT.test(wording),
        isWord: /^u[bc]e$/.test(wording),
        isUnrouteable: /^unroute?able$/.test(wording),
        isListing: wording.startsWith('listed '),
        isOfAnything: OF_ANYTHING.test(wording),
      }),
    ),
  })),
);

interface Wording {
  /** with gaps between them */
  parts: readonly string[];
  /** not about the sender */
  isHard: boolean;
  /** about a host or a domain, which clients and keys have, too */
  isHost: boolean;
  /** true only without a condition behind it: `does not accept mail without a subject` */
  isUnconditional: boolean;
  /** says that something is unknown, which may be something else than a recipient */
  isLoose: boolean;
  /** says it of the subject of its sentence, which has to be a recipient */
  needsSubject: boolean;
  /** a word and not a part of one: `uce` */
  isWord: boolean;
  /** says it of an address or a domain right behind, or of what is before: of a return path, too */
  isUnrouteable: boolean;
  /** says that something is on a list: not of a recipient who is `not listed in` a directory */
  isListing: boolean;
  /** says what happens to connections and messages, too: of a recipient only right behind a word for one */
  isOfAnything: boolean;
}

const OF_ANYTHING =
  /^(?:(?:closed|deleted|removed) (?:due to|for) |(?:disabled|expired|deactivated) and |停用.*[删刪]除)/u;
/** A recipient, right before what happened to it. What is `for the mailbox` is a message. */
const RECIPIENT_BEFORE =
  /^ ?$|(?:(?<!(?<!\p{L})(?:to|for|in|with|from|at|of|by)(?: (?:the|this|that|your|our|an?))?(?: (?:user|address|account|recipient|mailbox))? )(?<!\p{L})(?:mail ?box|account|user|address|recipient|inbox|alias|@addr)(?: (?:of |for )?(?:user )?@addr)?["'>]{0,2}(?: (?:it|has|have|had|is|was|were|been|and)){0,4} ?|(?:[邮郵信]箱|[帐账帳賬][户戶号號]|[用客][户戶]|使用者|地址|收件人)(?:已|被|已被)? ?|@addr ?(?:已|被|已被) ?)$/u;

/** Leaves out wordings that contain another one of the same reason. */
function withoutLonger(wordings: readonly string[]): string[] {
  const plain = wordings.filter((wording) => !wording.includes(' ... '));
  return wordings.filter((wording) => !plain.some((other) => other !== wording && wording.includes(other)));
}

/** Addresses, URLs and host names are not words (`virus@example.com`): they become `@addr` and `@host`, which wordings may name. */
function toSearched(text: string): string {
  return correctEnglish(text.slice(0, MAX_TEXT_LENGTH).toLowerCase().replaceAll('’', "'"))
    .replace(GREETING, ' ')
    .replace(ADVERB, '')
    .replace(/\(in reply to [a-z ]{3,30} command\)/g, ' ')
    .replace(/https?:\/\/\S{1,500}/g, ' ')
    .replace(ADDRESS, '@addr')
    .replace(/(?<![\w.@-])[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,9}\.[a-z]{2,5}(?![\w.]*\w)/g, '@host')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(MAIL_ID, (whole, behind: string | undefined) => (behind === undefined ? '@thing' : `address ${behind}`))
    .replace(LABEL, (label, reply: string, at: number, all: string) =>
      PREDICATE.test(all.slice(at + label.length, at + label.length + MAX_CONTEXT_LENGTH)) ? `@label ${reply}` : reply,
    )
    .replace(/(?<!\p{L})host @host(?: ?\[[^\]]{1,60}\])? said:/gu, ' ');
}

/** The id of a message, unless an address is behind it. */
const MAIL_ID = /(?<!\p{L})(?:e-?)?mail id(?!\p{L})(?:[:;,]? (@addr)| [^\s@]*\d[^\s@]*)?/gu;

/** The recipient before what a server said, as Postfix and Exim write it. It is no part of that sentence, unless that has no subject. */
const LABEL =
  /@addr>?:? {0,2}(?:host @host(?: ?\[[^\]]{1,60}\])?(?: said)?: {0,2})((?:[45]\d\d[ -]{1,2})?(?:#?[45]\.\d{1,3}\.\d{1,3}[ :]{1,2})?)/gu;
const PREDICATE =
  /^(?:(?:not|no longer|unknown|invalid|does|doesn't|is|isn't|was|wasn't|unable|cannot|can't|could|couldn't|bad|illegal|non-?existent|never|has|doesnt|undeliverable|unrouteable|unroutable)(?![\p{L}-])|[^ ()]{2,20} [^ ()]{2,20} {0,2}(?:$|\())/u;

/** In front of what happened to a recipient: `has been permanently deleted`. */
const ADVERB =
  /(?<=(?<!\p{L})(?:been|was|were|is|are|has|have) )(?:permanently|recently|already|since|now|just|completely) /gu;

/** The sender of the report is addressed, which is not about the sender. */
const GREETING =
  /\b(?:dear|hello|hi|sehr geehrter?|lieber?|chère?|cher|estimad[oa]|gentile|prezad[oa]|geachte|beste) (?:sender|absender(?:in)?|exp[ée]diteur|remitente|mittente|remetente|afzender)\b/g;

/** Chinese and Japanese text has no spaces around an address. */
const ADDRESS =
  /<?[^\s<>@()"';:,，。：；、（）「」\u2e80-\u9fff\uac00-\ud7af]{1,64}@[^\s<>@,;:()"'，。：；、（）「」\u2e80-\u9fff\uac00-\ud7af]{1,255}>?/g;

/** What a hard wording may not be about, right before and behind it. */
const SENDER_BEFORE =
  /(?:(?<!to |to the )send(?:er(?:'s)?|ing)(?: (?:mailbox|address|user|account|domain))?|return(?:[- ](?:address|path))?|reply-to|helo|ehlo|from address|from:? ?domain|your(?: domain| host| account| address| ip)?)(?: (?!recip|rcpt|mailbox|to |for )[@a-z',:-]{1,12}){0,3} ?$|callback(?: [a-z',:-]{1,12}){0,4} ?$|(?<!\p{L})you(?:'ve|'re)?(?: (?:have|has|had|do|don't|are|aren't|not|no|currently|seem|to|be)){0,3} ?$|(?<!\p{L})(?:relay|sasl|auth) ?$/u;
/** The sender in other languages, right before a hard wording. */
const FOREIGN_SENDER_BEFORE =
  /(?<!\p{L})(?:absender|sendende|[ée]metteur|emisor|emissor|emittent|exp[ée]diteur|expéditrice|remitente|remetente|mittente|afzender|avsändar|avsender|afsender|nadawc|odesílatel|odosielateľ|отправител|відправник|gönderen|发件人|发件方|发送方|發送方|寄件者|寄件人|差出人|送信者|送信元|발신|보낸 사람|보내는 사람|발송자)\p{L}{0,20}(?: [@\p{L}',:-]{1,12}){0,2} ?$/u;
/** Who is unknown is no subject: `mail from unknown hosts`. */
const OF_UNKNOWN = /(?<!\p{L})(?:from|by|of|relay for) (?:an? |any |the )?$/u;
const SENDER_BEHIND =
  /^s?(?: address(?:es)?)? (?:in|within) (?:the |your )?(?:["']?(?:to|cc|bcc)["']?:?(?: (?:field|header|line))|header|message)|^[a-z ,:]{0,12}(?:sender|helo|ehlo|from address)\b/;
const MAX_CONTEXT_LENGTH = 50;

function isAboutSender(text: string, start: number, end: number): boolean {
  return (
    SENDER_BEFORE.test(text.slice(Math.max(0, start - MAX_CONTEXT_LENGTH), start)) ||
    FOREIGN_SENDER_BEFORE.test(text.slice(Math.max(0, start - MAX_CONTEXT_LENGTH), start)) ||
    (text.startsWith('unknown', start) &&
      OF_UNKNOWN.test(text.slice(Math.max(0, start - MAX_CONTEXT_LENGTH), start))) ||
    SENDER_BEHIND.test(text.slice(end, end + MAX_CONTEXT_LENGTH))
  );
}

/** Returns the words around a wording, to the ends of its clause. */
function findClause(text: string, start: number, end: number): string {
  const before =
    text
      .slice(Math.max(0, start - MAX_CONTEXT_LENGTH), start)
      .split(/[.;!?。]\s/u)
      .at(-1) ?? '';
  const [behind = ''] = text.slice(end, end + MAX_CONTEXT_LENGTH).split(/[.;!?。](?:\s|$)/u);
  return `${before}${text.slice(start, end)}${behind}`;
}

function hasWording(text: string, wording: Wording): boolean {
  const [first = '', ...rest] = wording.parts;
  for (let at = text.indexOf(first); at !== -1; at = text.indexOf(first, at + 1)) {
    let from = at + first.length;
    const isFound = rest.every((part) => {
      const found = text.slice(from, from + GAP + part.length).indexOf(part);
      from += found + part.length;
      return found !== -1;
    });
    if (wording.isWord && /\p{L}/u.test(`${text[at - 1] ?? ''}${text[from] ?? ''}`)) continue;
    if (wording.isUnrouteable && !UNROUTEABLE_BEHIND.test(text.slice(from, from + MAX_CONTEXT_LENGTH))) continue;
    if (
      wording.isOfAnything &&
      (!RECIPIENT_BEFORE.test(text.slice(Math.max(0, at - MAX_CONTEXT_LENGTH), at)) ||
        /^ from (?:the |our |its )?(?:\p{L}+ )?(?:queue|spool)/u.test(text.slice(from, from + MAX_CONTEXT_LENGTH)))
    )
      continue;
    if (
      wording.isListing &&
      NOT_BEFORE.test(text.slice(Math.max(0, at - 12), at)) &&
      namesRecipient(findClause(text, at, from))
    )
      continue;
    if (isFound && !(wording.isHard && isAboutOthers(text, at, from, wording))) return true;
  }
  return false;
}

const NOT_BEFORE = /(?:(?<!\p{L})not|n't|no longer) $/u;

/** A thing of a recipient, right before the word for the recipient: `Key for user joe not found`, `signature of the user was not found`. */
const THING_BEFORE =
  /(?<!\p{L})(?:keys?|signatures?|certificates?|passwords?|credentials?|tokens?|licen[cs]es?|permissions?|policy|policies|rules?|rights?|consent|quota|class|settings?|preferences?|home|director(?:y|ies)|folder|schlüssel|zertifikat|clé|certificat|clave|certificado|chiave|chave) (?:of|for|from|by|to|für|von|des|der|de|du|del|di|da) (?:the |this |our |den |la |el |il |l')?$/u;

/** Before what is said of a host of the client, or of a record of the sender. */
const HOST_OF_OTHERS = /(?<!\p{L})(?:client|helo|ehlo|spf|dkim|dmarc)(?:'s)?(?!\p{L})/u;

/** Behind `unrouteable`: an address or a domain that is not said to be the sender's, or the end of the clause. */
const UNROUTEABLE_BEHIND =
  /^(?: (?:e-?mail|mail|recipient|destination|target|domain|local|remote|external)){0,2} (?:address|domain|destination|recipient|user|mailbox|host|hostname)(?:es|s)?(?!\p{L}| (?:in|of|from) (?:your|the|its)(?!\p{L}))|^[\s"'>\]]{0,3}(?:$|[.,;:!?(){}@-])/u;

/** Behind `does not accept mail`. */
const CONDITION =
  /^s? (?:without|ohne|sans|sin|senza|sem|zonder|без|from|von|aus|de (?:votre|su|seu|cette|esta)|da|van|от|d['’]expéditeurs|with|that|which|larger|bigger|over|unless|if|sent|via|through|containing|until|signed|in )/;

/** A thing of a recipient (phrase-heads.ts), and at most two words. */
const THING_RIGHT_BEFORE = /@thing[がはもを은는이가을를]?(?: [^\s@.;!?]{1,16}){0,2} ?$/u;
/** The same behind what says that it is unknown: `We do not know the user mapping`. */
const THING_RIGHT_BEHIND = /^(?: (?:the|an?|any|this|that|your|of|such)){0,2} @thing/u;

function isAboutOthers(
  text: string,
  start: number,
  end: number,
  { parts, isHost, isLoose, isUnconditional, needsSubject }: Wording,
): boolean {
  if (isAboutSender(text, start, end)) return true;
  if (isUnconditional && CONDITION.test(text.slice(end, end + MAX_CONTEXT_LENGTH))) return true;
  if (THING_BEFORE.test(text.slice(Math.max(0, start - MAX_CONTEXT_LENGTH), start))) return true;
  const clause = findClause(text, start, end);
  if (FOR_YOU.test(clause) || saysNothing(clause)) return true;
  if (isHost && (HOST_OF_OTHERS.test(clause) || (parts.length > 1 && isAboutThing(text.slice(start, end)))))
    return true;
  // `user lookup failed: LDAP server not found`: what is missing has a subject of its own.
  const last = parts.at(-1) ?? '';
  if (parts.length > 1 && /[:;,] @thing ?$/u.test(text.slice(start, end - last.length))) return true;
  return (
    isAboutOther(clause) ||
    (isLoose &&
      (isAboutThing(clause) ||
        THING_RIGHT_BEFORE.test(text.slice(Math.max(0, start - MAX_CONTEXT_LENGTH), start)) ||
        THING_RIGHT_BEHIND.test(text.slice(end, end + MAX_CONTEXT_LENGTH)) ||
        (needsSubject && hasOtherSubject(text, start, clause))))
  );
}

/** Says of its subject that it is not there; other wordings of an unknown recipient say where it is missing, as in `not listed in`. */
const NEEDS_SUBJECT =
  /exist|esiste|bestaat|istnieje|vorhanden|findes|finns|finnes|olemassa|mevcut|bulunama|υπάρχει|найден|знайден|существует|不存在|存在しません|見つかりません|be found|unable to find|not known|not recogni|no longer (?:valid|available)/;
/** What names an addressee beside the words for a recipient. */
const OTHER_ADDRESSEE =
  /(?<!\p{L})(?:groups?|resources?|correo|courriel|directory entry|name or service|spectator|local ?part|e-?mails?|mail ?id|entry)(?!\p{L})/u;
/** Words that are no subject. */
const NO_SUBJECT =
  /(?<!\p{L})(?:is|are|was|were|be|been|has|have|had|does|did|do|can|could|may|not|that|which|and|but|currently|it|error|permanent|failure|failed|status|smtp|reply|remote|said|says)(?!\p{L})/gu;

/** Returns whether the words right before a statement that something is unknown are about no recipient: `The MIME part does not exist`. */
function hasOtherSubject(text: string, start: number, clause: string): boolean {
  if (OTHER_ADDRESSEE.test(clause) || namesRecipient(clause)) return false;
  const before = text.slice(Math.max(0, start - MAX_CONTEXT_LENGTH), start);
  const subject = before.split(/[.;!?,。](?:\s|$)|[:>|)]/u).at(-1) ?? '';
  return /\p{L}{2}/u.test(subject.replace(NO_SUBJECT, ' '));
}

/** RFC 3463 §3, IANA "SMTP Enhanced Status Codes". Null when the status says nothing specific. */
function reasonOfStatus(status: string | null): RefusalReason | null {
  const match = /^[45]\.(\d{1,3})\.(\d{1,3})$/.exec(status ?? '');
  if (match === null) return null;
  const isFinal = status?.startsWith('5') === true;
  const [subject, detail] = [Number(match[1]), Number(match[2])];
  const reason = SPECIFIC[`${subject}.${detail}`] ?? (detail === 0 ? null : SUBJECTS[subject]) ?? null;
  return reason !== null && isHardReason(reason) && !isFinal ? 'expired' : reason;
}

const SPECIFIC: Readonly<Record<string, RefusalReason>> = {
  '1.1': 'user_unknown',
  '1.2': 'host_unknown',
  '1.3': 'user_unknown',
  '1.4': 'recipient_rejected',
  '1.6': 'address_moved',
  '1.7': 'sender_rejected',
  '1.8': 'sender_rejected',
  '1.9': 'sender_rejected',
  '1.10': 'mail_not_accepted',
  '1.351': 'user_unknown',
  '2.1': 'mailbox_disabled',
  '2.2': 'mailbox_full',
  '2.3': 'message_too_large',
  '2.4': 'recipient_rejected',
  '3.1': 'system_error',
  '3.4': 'message_too_large',
  '4.4': 'host_unknown',
  '4.7': 'expired',
  '5.3': 'rate_limited',
  '7.8': 'security',
  '7.9': 'authentication_failed',
  '7.10': 'security',
  '7.11': 'security',
  '7.13': 'mailbox_disabled',
  '7.20': 'authentication_failed',
  '7.21': 'authentication_failed',
  '7.22': 'authentication_failed',
  '7.23': 'authentication_failed',
  '7.24': 'authentication_failed',
  '7.25': 'missing_reverse_dns',
  '7.26': 'authentication_failed',
  '7.27': 'sender_rejected',
  '7.28': 'rate_limited',
  '7.509': 'authentication_failed',
};

/** By the subject of the status. */
const SUBJECTS: Readonly<Record<number, RefusalReason>> = {
  3: 'system_error',
  4: 'network_error',
  5: 'protocol_error',
  6: 'content_rejected',
  7: 'policy',
};

/** RFC 5321 §4.2.3, RFC 7504. Null when servers use the code for several reasons. */
function reasonOfCode(code: number | null, status: string | null): RefusalReason | null {
  switch (code) {
    case 521:
      // Servers that fail for a reason of their own reply with it, too: `521 5.3.0 Upstream error`.
      return status === null || /^5\.(?:0\.0|1\.\d+|3\.2)$/.test(status) ? 'mail_not_accepted' : null;
    case 556:
      return 'mail_not_accepted';
    case 552:
      return 'mailbox_full';
    case 452:
      return 'system_error';
    case 500:
    case 501:
    case 502:
    case 503:
    case 504:
      return 'protocol_error';
    case 523:
      return 'message_too_large';
    case 525:
      return 'mailbox_disabled';
    case 530:
    case 534:
    case 535:
    case 538:
      return 'security';
    case null:
    default:
      return null;
  }
}
