import { type RefusalReason } from '../sending/refusal-advice.ts';
import { type RefusedCommand, refusalReason } from '../sending/refusal-reason.ts';
import { isAutomaticReply, isOfProgram } from './automatic-text.ts';
import { fieldText, firstField, type HeaderSection } from './header-fields.ts';
import {
  BOUNCE_WORDINGS,
  COPY_WORDINGS,
  DAEMONS,
  DELAY_WORDINGS,
  FAILURE_WORDINGS,
  SERVER_BOUNCE_WORDINGS,
} from './report-wordings.ts';
import { fateInClauses } from './undelivered-clause.ts';

/** What the text of a report says about one recipient. */
export interface Diagnosis {
  /** null when the text names none */
  address: string | null;
  /** the server's words on one line */
  text: string;
  code: number | null;
  status: string | null;
  reason: RefusalReason;
  command: RefusedCommand | null;
}

/** Characters of a report's text that are read, and recipients. */
const MAX_TEXT_LENGTH = 20_000;
const MAX_LINES = 400;
const MAX_RECIPIENTS = 50;
const MAX_DIAGNOSIS_LENGTH = 1_000;
/** Characters of the subject and text of a person's mail in which it may say that it is a report. */
const MAX_START_LENGTH = 400;

/** Returns what the server itself wrote: the text without the copy of the original message, and without quote marks. */
export function extractStatement(text: string): string {
  const lines = text.slice(0, MAX_TEXT_LENGTH).split(/\r\n|\n|\r/, MAX_LINES);
  const kept: string[] = [];
  for (const line of lines) {
    const bare = line.replace(/^\s*(?:>(?: |$))?\s*/, '').trimEnd();
    if (kept.some((one) => one !== '') && startsCopy(bare)) break;
    kept.push(bare);
  }
  return kept.join('\n');
}

function startsCopy(line: string): boolean {
  if (/^(?:received|return-path|dkim-signature|x-[a-z-]{2,40}): /i.test(line)) return true;
  const words = line.toLowerCase().replace(/^[\s\p{P}\p{S}]{1,80}/u, '');
  const isMarked = words.length < line.length || /(?:follows?|following)[.:\s-]*$|copy of/.test(words);
  return isMarked && COPY_WORDINGS.some((wording) => words.startsWith(wording));
}

/**
 * Returns the kind of a message that reached a return address, by its header section, its text and whether it returns a message; null when
 * it is no report.
 */
export function kindOfText(
  header: HeaderSection,
  statement: string,
  isReturning: boolean,
): 'bounce' | 'delay' | 'delivered' | 'automatic-reply' | null {
  const subject = fieldText(header, 'subject').toLowerCase();
  const isOfServer = isServerReport(header);
  const isProgram = !isLetter(statement) || (isReturning && !asks(statement));
  const isDaemon = isOfServer || (isNamedAsDaemon(header) && !isReplyOfPerson(header, subject) && isProgram);
  if (!isDaemon && isAutomaticReply(header, subject, statement)) return 'automatic-reply';
  const text = `${subject}\n${statement.toLowerCase()}`.replace(/\s+/g, ' ');
  const isFailure = FAILURE_WORDINGS.some((wording) => text.includes(wording));
  const isDelay = !isFailure && DELAY_WORDINGS.some((wording) => text.includes(wording));
  const fate = isDaemon && !isDelay ? fateInClauses(`${subject}\n\n${statement.toLowerCase()}`) : null;
  const isReply = REPLY.test(statement) || statusIn(statement, false) !== null;
  const isRefusal = isReply || refusalReason({ code: null, status: null, text: statement }) !== 'unknown';
  if (isDaemon) {
    if (DELIVERED.test(text) && statusIn(statement, false) === null && !REFUSED.test(statement)) return 'delivered';
    if (isDelay || (fate === 'waiting' && !isFailure && !isRefusal)) return 'delay';
    const isBounce =
      fate === 'undelivered' ||
      isBounceWorded(text) ||
      SERVER_BOUNCE_WORDINGS.some((wording) => text.includes(wording));
    if (isBounce || (isRefusal && isReply)) return 'bounce';
    // Programs and people at such addresses write of other things, too: `Check 12 failed: host not found`.
    const isOther =
      !isReturning &&
      (isGreeting(statement) || QUESTION.test(statement) || !(isAboutMail(statement) || RECIPIENT.test(statement)));
    return isRefusal && !isOther ? 'bounce' : null;
  }
  const isOwn = !isReplyOfPerson(header, subject) && !asks(statement);
  const other = isOfProgram(header, { subject, statement, isOwn, isGreeting: isGreeting(statement) })
    ? 'automatic-reply'
    : null;
  const isTitled = isReply && isBounceTitle(subject) && !(isGreeting(statement) && asks(statement));
  if (isReplyOfPerson(header, subject) || (isLetter(statement) && !isTitled)) return other;
  // A person may write about such mail, or about a parcel: the start must say it, and the subject, a reply or a returned message confirm it.
  if (!isRefusal || !isBounceWorded(text.slice(0, MAX_START_LENGTH))) return other;
  if (!isReply && !isReturning && !(isBounceWorded(subject) && isAboutMail(statement))) return other;
  return isDelay ? 'delay' : 'bounce';
}

/** A question within a text, and not in an address of the web. */
const QUESTION = /\p{L}\?(?:\s|$)/u;

/** Whether a text is about mail, and not about a parcel, a payment or a computer: it has an address, or a word for mail. */
function isAboutMail(statement: string): boolean {
  return statement.includes('@') || MAIL.test(statement);
}

const MAIL =
  /(?<!\p{L})(?:e-?)?mail|message|messaging|user|inbox|nachricht|postfach|benutzer|nutzer|courriel|courrier|utilisateur|boîte|correo|mensaje|usuario|buzón|messaggio|posta|utente|casella|mensagem|caixa|bericht|gebruiker|wiadomo|użytkownik|skrzynk|zpráv|správ|uživatel|schránk|üzenet|levél|postafiók|meddeland|besked|melding|viesti|сообщени|письм|пользовател|ящик|лист|користувач|mesaj|ileti|kullanıcı|μήνυμα|χρήστη|邮件|郵件|邮箱|郵箱|用户|用戶|メール|ユーザ|메일|사용자|דוא|הודעה|رسالة|بريد/iu;
const RECIPIENT =
  /recipient|empfänger|destinataire|destinatario|ontvanger|odbior|příjemc|címzett|mottagar|modtager|mottaker|vastaanottaja|получател|alıcı|παραλήπτη|收件人|宛先|수신/iu;

/** Says that mail arrived, and that of its end, not that it did not. */
const DELIVERED =
  /successful (?:mail )?delivery|(?:was|were|has been|have been) (?:successfully (?:delivered|relayed|sent)|(?:delivered|relayed) (?:successfully|to the (?:destination|mailbox|next|following)))|erfolgreich (?:zugestellt|übermittelt|weitergeleitet)|(?:remis|délivré|distribué)e?s? avec succès|(?:entregad|enviad)[oa] (?:correctamente|con éxito|com sucesso)|(?:consegnat|recapitat)[oa] (?:correttamente|con successo)|pomyślnie (?:dostarczon|doręczon)|успешно доставлен|已成功(?:投递|送达|传递)|正常に配信/u;
/** A code of a refusal in a text. */
const REFUSED = /(?<![\d.])[45]\d\d[ -]/;

/** Whether a message replies to one, as people do: `Re: Invoice`. */
function isReplyOfPerson(header: HeaderSection, subject: string): boolean {
  return firstField(header, 'in-reply-to') !== null && /^(?:re|aw|sv|vs|antw?|odp|rif|res)\s{0,3}[:：]/.test(subject);
}

/** What opens a letter to a person, and not to the sender of a message: `Hi Joe,`. */
const SALUTATION =
  /^(?:hi|hello|hey|hallo|hei|hej|ciao|ahoj|dear|good (?:morning|afternoon|evening|day)|morning|greetings|guten (?:tag|morgen|abend)|moin|servus|grüezi|liebe[rs]?|sehr geehrte[rs]?|bonjour|bonsoir|salut|chère?s?|cher|madame|monsieur|hola|buenos días|buenas|estimad[oa]s?|querid[oa]s?|buongiorno|buonasera|salve|gentil[ei]|egregio|olá|ola|oi|bom dia|boa tarde|prezad[oa]s?|car[oa]s?|beste|geachte|dag|goedemorgen|goedemiddag|kære|hejsa|hei|god (?:morgen|dag|kveld)|kjære|dzień dobry|cześć|witam|szanown[iy]|dobrý den|vážen[ýá]|tisztelt|kedves|szia|bună ziua|bună|stimat[ei]?|merhaba|sayın|здравствуйте|привет|добрый день|уважаем\p{L}{2}|вітаю|добрий день|здравейте|γεια|καλημέρα|αγαπητ\p{L}{1,2})(?: (?!(?:e-?mail )?(?:sender|user|customer|absender|nutzer|kunde|expéditeur|utilisateur|client|remitente|usuario|mittente|remetente|usuário|afzender|gebruiker|avsender|afsender|avsändare|nadawco|odesílateli|feladó|отправитель|пользователь))[\p{L}.'’-]{1,30}){0,4} ?[,!：:，]$/iu;

/** Whether a text begins as people write to each other, or asks something. */
function isLetter(statement: string): boolean {
  return isGreeting(statement) || asks(statement);
}

function isGreeting(statement: string): boolean {
  const first = statement.split('\n').find((line) => line !== '') ?? '';
  return SALUTATION.test(first.slice(0, 100));
}

function asks(statement: string): boolean {
  return /\p{L}{2}\?$/mu.test(statement);
}

/** Whether a subject is the title of a bounce, alone or before a colon: people write more, as in `Undeliverable mail to your address`. */
function isBounceTitle(subject: string): boolean {
  const [title = '', rest] = subject.split(/\s{0,3}[:：]/, 2);
  return rest === undefined ? BOUNCE_WORDINGS.includes(title) : isBounceWorded(title);
}

function isBounceWorded(text: string): boolean {
  return BOUNCE_WORDINGS.some((wording) => text.includes(wording));
}

/** Returns whether a mail server is the author, by its name or by fields that only mail servers write into a report. */
export function isFromDaemon(header: HeaderSection): boolean {
  return isServerReport(header) || isNamedAsDaemon(header);
}

/** Whether only the display name is that of a mail server, which people also have: `Postmaster <ann@example.com>`. */
function isNamedAsDaemon(header: HeaderSection): boolean {
  return DAEMON_NAME.test(fieldText(header, 'from').toLowerCase());
}

function isServerReport(header: HeaderSection): boolean {
  if (SERVER_FIELDS.some((name) => firstField(header, name) !== null)) return true;
  if (/^multipart\/report\b/i.test(fieldText(header, 'content-type'))) return true;
  const from = fieldText(header, 'from').toLowerCase();
  if (from === '') return false;
  const address = /<([^<>]*)>[^<>]*$/.exec(from)?.[1] ?? from;
  const [local = ''] = address.trim().split(/[@\s(]/, 1);
  return (
    local === '' ||
    local.startsWith(EXCHANGE) ||
    DAEMONS.some((name) => local === name || local.startsWith(`${name}-`) || local.startsWith(`${name}+`))
  );
}

/** The name of a mail server, beside any address: `Mail Delivery System <noreply@example.com>`. */
const DAEMON_NAME =
  /^["'(\s]{0,4}(?:(?:e?-?mail|message|internet mail|smtp) (?:delivery|transport|routing)(?: (?:sub-?)?(?:system|service|agent|program|daemon|notification)s?)?|(?:network |electronic )?(?:mailer|postmaster)(?:[ -]?daemon)?|mail (?:sub)?system|mail server|courier mail server|delivery (?:sub)?system)["')\s]{0,3}(?:$|<| at )/;

/** Exchange 2007 and later, followed by the same hexadecimal number everywhere. */
const EXCHANGE = 'microsoftexchange';
/** Of Exim and Gmail, and of Exchange. */
const SERVER_FIELDS = ['x-failed-recipients', 'x-ms-exchange-message-is-ndr'] as const;

/** What a statement says. */
export interface ReadStatement {
  /** about each recipient that it names; about an unnamed one when it names none; never empty */
  diagnoses: () => Diagnosis[];
  diagnoseAddress: (address: string) => Diagnosis;
}

/**
 * Reads a statement. What it says as a whole is found once, however many recipients it names. `sentTo`: the only recipient of the message as
 * far as it is known; `failed`: the only one that a field of the report names, which bounced even if the text greets another.
 */
export function readStatement(
  statement: string,
  sentTo: string | null = null,
  failed: string | null = null,
): ReadStatement {
  const sections = splitSections(statement);
  const named = sections.size === 0 ? (failed ?? onlyAddressIn(statement)) : null;
  const only = sections.size === 0 ? (named ?? sentTo) : null;
  let found: Diagnosis | null = null;
  const whole = () => (found ??= diagnose([replyIn(statement), statement], commandIn(statement), only));
  const diagnoseAddress = (address: string): Diagnosis => {
    const section = sections.get(address.toLowerCase()) ?? '';
    if (section === '') return { ...whole(), address };
    const command = commandIn(section) ?? commandIn(statement);
    const said = diagnose([replyIn(section), bare(section, address)], command, address);
    if (said.reason !== 'unknown') return { ...said, address, text: said.code === null ? toText(section) : said.text };
    const { text, code, status } = said.text === '' ? whole() : said;
    return { ...whole(), address, text, code, status: status ?? whole().status };
  };
  const diagnoses = () =>
    sections.size === 0 ? [{ ...whole(), address: named }] : [...sections.keys()].map(diagnoseAddress);
  return { diagnoses, diagnoseAddress };
}

/** Returns the address that a text names; null when it names several or none. */
function onlyAddressIn(text: string): string | null {
  let only: string | null = null;
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const local = LOCAL_PART.exec(text.slice(Math.max(0, at - MAX_LOCAL_LENGTH), at))?.[0] ?? '';
    const domain = DOMAIN.exec(text.slice(at + 1, at + 1 + MAX_DOMAIN_LENGTH))?.[0] ?? '';
    // Ids of messages have no domain: `[1741.ABC@xmail]`.
    if (local === '' || !domain.includes('.')) continue;
    const address = `${local}@${domain}`.toLowerCase();
    if (only !== null && address !== only) return null;
    only = address;
  }
  return only;
}

/** Characters of a local part and a domain (RFC 5321 §4.5.3.1). */
const MAX_LOCAL_LENGTH = 64;
const MAX_DOMAIN_LENGTH = 255;
const LOCAL_PART = /(?<![\w.!#$%&*+/=?^{|}~-])[\w.!#$%&*+/=?^{|}~-]+$/;
const DOMAIN = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?/i;

/** An address at the start of a line, alone or before what is said about it. */
const SECTION =
  /^(?:[*•-] )?(?:(?:(?:failed |final |original )?recipient(?: address)?|to|empfänger(?:adresse)?|an|destinataire|à|destinatari[oa]|para|destinatário|ontvanger|geadresseerde|aan|odbiorca|do|adresat|получатель|адресат|кому|alıcı|kime|宛先|あて先|受信者|收件人(?:地址)?|收件者|收信人|받는 ?사람|수신자) {0,3}[:：] {0,3})?["'<(]{0,2}([^\s<>@:;,"'()[\]：；，。（）]{1,64}@[^\s<>@:;,"'()[\]：；，。（）、]{1,253}[^\s<>@:;,"'()[\].：；，。（）、])["'>)]{0,2}(?=$|[\s:;,.<：；，。（）、])/iu;

/** Returns the lines about each address, by address in lower case. */
function splitSections(statement: string): Map<string, string> {
  const sections = new Map<string, string>();
  let current: string | null = null;
  const lines = statement.split('\n');
  for (const [at, line] of lines.entries()) {
    const address = SECTION.exec(line.trim())?.[1]?.toLowerCase();
    // The fields of the message below what is said about its recipient.
    if (address !== undefined && sections.has(address) && isFieldOfCopy(lines, at)) current = null;
    else if (address !== undefined && (sections.size < MAX_RECIPIENTS || sections.has(address))) current = address;
    // A heading ends what is said about an address.
    else if (/^[-=*#_]{3,}/.test(line)) current = null;
    if (current !== null) sections.set(current, `${sections.get(current) ?? ''}\n${line}`);
  }
  return sections;
}

/** Whether a line is a recipient's field between the others of a message: `From: …`, `To: …`, `Subject: …`. */
function isFieldOfCopy(lines: readonly string[], at: number): boolean {
  const isField = (line = '') => /^(?:from|subject|date|message-id|reply-to|mime-version): /i.test(line);
  return /^to: /i.test(lines[at] ?? '') && (isField(lines[at - 1]) || isField(lines[at + 1]));
}

/** Returns what the first of the texts says that gives a reason; the words of the first text. */
function diagnose(
  texts: readonly (string | null)[],
  command: RefusedCommand | null,
  recipient: string | null,
): Diagnosis {
  let first: Diagnosis | null = null;
  for (const text of texts) {
    if (text === null) continue;
    const found = readRefusal(text, command, recipient);
    if (found.reason === 'unknown') first ??= found;
    else return first === null ? found : { ...found, text: first.text, code: first.code, status: first.status };
  }
  return first ?? { address: null, text: '', code: null, status: null, reason: 'unknown', command };
}

/** The section without the address, so that it counts only when there is something besides it. */
function bare(section: string, address: string | null): string | null {
  const text = address === null ? section : section.replace(new RegExp(escapeRegExp(address), 'gi'), ' ');
  return /\p{L}{3}/u.test(text) ? text : null;
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** Returns the words of a text: all of a short one, of a long one the paragraph that gives the reason. */
function wordsIn(text: string, reason: RefusalReason): string {
  if (text.length <= 400) return toText(text);
  const refusal = { code: null, status: null };
  const paragraph = text.split(/\n\s*\n/).find((part) => refusalReason({ ...refusal, text: toLine(part) }) === reason);
  return toText(paragraph ?? text);
}

function toText(text: string): string {
  return toLine(text).slice(0, MAX_DIAGNOSIS_LENGTH).toWellFormed();
}

/** Sendmail and Domino give the reason in the subject: `Returned mail: User unknown`. */
const REASON_SUBJECT =
  /^(?:returned mail|(?:mail )?delivery failure|zustell(?:ungs)?fehler|échec de (?:la )?(?:remise|distribution)|error de entrega|mancata consegna|falha (?:na|de) entrega|配信(?:障害|エラー))\s{0,3}[:：]\s{0,3}(\S.{0,500})$/iu;

/** Returns what the subject of a report says; null when it gives no reason. */
export function diagnoseSubject(header: HeaderSection): Diagnosis | null {
  const words = REASON_SUBJECT.exec(fieldText(header, 'subject'))?.[1];
  const said = words === undefined ? null : readRefusal(words, null, null);
  return said?.reason === 'unknown' ? null : said;
}

function readRefusal(text: string, command: RefusedCommand | null, recipient: string | null): Diagnosis {
  const line = toLine(text);
  const reply = REPLY.exec(line);
  const code = reply === null ? null : Number(reply[1]);
  const status = statusIn(line, reply !== null);
  const reason = refusalReason({ code, status, command, text: line, recipient });
  return { address: null, text: code === null ? wordsIn(text, reason) : toText(text), code, status, command, reason };
}

/** Returns the enhanced status in a text: after a reply code anywhere, otherwise only where it is marked as one. */
export function statusIn(text: string, isReply: boolean): string | null {
  const pattern = isReply
    ? /(?<![\d.])([45]\.\d{1,3}\.\d{1,3})(?!\.?\d)/
    : /(?:#|status:? |dsn |error:? |code:? |^)([45]\.\d{1,3}\.\d{1,3})(?!\.?\d)/i;
  return pattern.exec(text)?.[1] ?? null;
}

/** A reply of class 4 or 5 (RFC 5321 §4.2). */
const REPLY = /(?:^|[\s>:;'"([=])([45]\d\d)(?=[ :-]{1,2}(?!\d\d:)[^\s]|$)/m;
const PERMANENT_REPLY = /(?:^|[\s>:;'"([=])(5\d\d)(?=[ :-]{1,2}(?!\d\d:)[^\s])/m;

/** Returns the reply that a text repeats, up to the end of its paragraph; a permanent one first. */
function replyIn(text: string): string | null {
  const found = PERMANENT_REPLY.exec(text) ?? REPLY.exec(text);
  if (found === null) return null;
  const start = found.index + found[0].length - 3;
  const rest = text.slice(start, start + MAX_DIAGNOSIS_LENGTH);
  const end = /\n\s*\n|\n(?:giving up on|>>>|\[rcpt|-{3})/i.exec(rest)?.index;
  return end === undefined ? rest : rest.slice(0, end);
}

function toLine(text: string): string {
  return (
    text
      // Lines of Chinese and Japanese are wrapped without a space.
      .replace(/(?<=[\u3000-\u9fff])\n(?=[\u3000-\u9fff])/g, '')
      .replace(/\s+/g, ' ')
      .trim()
  );
}

/** Returns the command that was refused, where the report names it. */
export function commandIn(statement: string): RefusedCommand | null {
  const text = statement.toLowerCase().replace(/\s+/g, ' ');
  for (const [command, wordings] of COMMANDS) if (wordings.some((wording) => text.includes(wording))) return command;
  return null;
}

const COMMANDS: readonly (readonly [RefusedCommand, readonly string[]])[] = [
  [
    'recipient',
    [
      'in reply to rcpt to',
      'after rcpt to',
      'does not like recipient',
      'did not like our rcpt to',
      '>>> rcpt to',
      '[rcpt_to]',
      'server has rejected address',
      'in response to the rcpt to',
      'response to rcpt',
      '(rcpt to)',
      'to rcpt to',
      // The response to DATA after the only recipient was refused.
      'need rcpt',
      'valid rcpt',
      'no valid recipients',
    ],
  ],
  [
    'content',
    [
      'in reply to end of data',
      'in reply to data',
      'after end of data',
      'after data',
      'after i sent the message',
      'did not like our final data',
      'did not like our data',
      '>>> data',
      'smtp command data',
      'smtp transmission failure',
      '(data)',
      'response to data',
      'to end of data',
      'end of message',
    ],
  ],
  [
    'sender',
    [
      'in reply to mail from',
      'after mail from',
      'sender was rejected',
      'did not like our mail from',
      '>>> mail from',
      '[mail_from]',
      '(mail from)',
      'to mail from',
    ],
  ],
];
