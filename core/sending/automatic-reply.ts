import { AUTOMATIC_FIELDS, isAbsenceNotice, isAutomaticSubject } from '../mime/automatic-text.ts';
import {
  ABOUT_ABSENCE,
  ACKNOWLEDGEMENT_NOUN,
  ACKNOWLEDGEMENT_SENTENCE,
  CALENDAR_FIELDS,
  CALENDAR_RESPONSE,
  HELP_DESK_ADDRESS,
  HELP_DESK_FIELD,
  MARKING_FIELDS,
  MARKING_NAME,
  OWN_REQUEST,
  PLAIN_NUMBER,
  PROGRAM_FIELD,
  PROGRAM_MAILER,
  REPLY_SUBJECT,
  TICKET_NUMBER,
} from './automatic-fields.ts';

/** What decides whether a program may reply to a received message. */
export interface RepliableMail {
  /** lower-case names and decoded values, as stored */
  headers: readonly (readonly [name: string, value: string])[];
  /** of the envelope; empty: the null return path; null: unknown */
  returnPath: string | null;
  /** of From */
  fromAddress: string;
}

/** Automatic replies in one thread within an hour. */
export const MAX_AUTOMATIC_REPLIES = 5;
/** Automatic replies to one correspondent within a day, in any thread: help desks may open a new one for each reply. */
export const MAX_AUTOMATIC_REPLIES_PER_DAY = 10;
/** RFC 3834 §5: marks a reply that a program sends, so that other programs do not reply to it. */
export const AUTOMATIC_REPLY_FIELDS: Readonly<Record<string, string>> = { 'Auto-Submitted': 'auto-replied' };

const FORWARD_FIELD = 'X-Postroom-Forwarded';
/** Marks mail that a program forwards, so that programs neither reply to it nor forward it in a circle. */
export const AUTOMATIC_FORWARD_FIELDS: Readonly<Record<string, string>> = {
  'Auto-Submitted': 'auto-generated',
  [FORWARD_FIELD]: 'action',
};

/** Returns the address under which automatic replies are counted: in lower case, without a plus tag, which help desks change for each ticket. */
export function readCorrespondent(address: string): string {
  return address.toLowerCase().replace(/^([^+@]+)\+[^@]*@/, '$1@');
}

/** Returns why a program must not forward the message; null when it may. */
export function automaticForwardRefusal(headers: RepliableMail['headers']): string | null {
  const isForwarded = headers.some(([name]) => name === FORWARD_FIELD.toLowerCase());
  return isForwarded ? 'The email was itself forwarded by an action, so it is not forwarded again.' : null;
}

/**
 * Returns why a program must not reply to the message (RFC 3834 §2); null when it may. Mail that any field marks as automatic, bulk mail and
 * mail of lists get no reply, and neither does mail without a return path, or from an address that reads no mail.
 */
export function automaticReplyRefusal({ headers, returnPath, fromAddress }: RepliableMail): string | null {
  if (returnPath === '') return 'The email has no return path, so it gets no automatic reply (RFC 3834).';
  for (const address of [returnPath, fromAddress])
    if (address !== null && isRobot(address))
      return `The email is from ${address}, which gets no automatic reply (RFC 3834).`;
  // A form on a web site writes from such an address, with its visitor in Reply-To.
  if (isUnread(fromAddress) && !headers.some(([name]) => name === 'reply-to'))
    return `The email is from ${fromAddress}, which reads no mail, so it gets no automatic reply (RFC 3834).`;
  const names = new Set(headers.map(([name]) => name));
  const isReply = names.has('in-reply-to') || names.has('references');
  const mail = {
    isReply,
    isOfHelpDesk:
      isReply || HELP_DESK_ADDRESS.test(fromAddress) || headers.some(([name]) => HELP_DESK_FIELD.test(name)),
    isOfCalendar: headers.some(([name, value]) => CALENDAR_FIELDS.get(name)?.test(value) === true),
  };
  const field = headers.find(([name, value]) => isAutomatic(name, value.trim().toLowerCase(), mail));
  if (field === undefined) return null;
  const [name, value] = field;
  return `The email is automatic or bulk mail (${name}: ${value.trim().slice(0, MAX_SHOWN_LENGTH)}), so it gets no automatic reply (RFC 3834).`;
}

/** Characters of a value that a refusal repeats. */
const MAX_SHOWN_LENGTH = 100;

/** RFC 3834 §2: list owners, list request addresses, and mail servers. */
function isRobot(address: string): boolean {
  const localPart = readLocalPart(address);
  return (
    /^(?:mail(?:er)?-?daemon|mdaemon|postmaster|listserv|majordomo|root|cron|vacation)$/.test(localPart) ||
    /^(?:auto-?(?:repl(?:y|ies)|respond(?:er)?|responses?)|bounces?(?:[+=].*|(?:-[^-]*[\d=][^-]*)+)?)$/.test(
      localPart,
    ) ||
    localPart.startsWith('owner-') ||
    localPart.endsWith('-request') ||
    /-bounces(?:\+|$)/.test(localPart) ||
    localPart.endsWith('-owner')
  );
}

/** "Do not reply" in the words of local parts, without what separates them: a negation beside a word for a reply, in either order. */
const UNREAD =
  /^(?:(?:no|non|donot|dont|never|please?donot)(?:reply|replies|replay|response|respond|answer)|nepas?repondre|sansreponse|(?:no|nao|sin)(?:responder|responda|respondas|contestar|conteste|resposta|respuesta)|(?:non|senza)(?:rispondere|rispondete|risposta)|(?:bitte)?nicht(?:be)?antworten|keineantwort|ohneantwort|(?:geen|niet)(?:be)?antwoord(?:en)?|nie(?:odpowiadac|odpowiadaj)|(?:svar|svara)(?:ikke|ej|inte)|(?:ikke|ej|inte)svara?|ala?vastaa|neodpovidat|neodpovidej(?:te)?|nuraspunde(?:ti)?|neotvechat|otvetanetreba|yanitlamayin(?:iz)?)\d*$/;

/**
 * Whether the name of an address says that its mail is not read: `do_not.reply`, `noreply-billing`, `files-noreply`, `keine-antwort`. A tag is
 * the name of no program: people choose their own, as in `jane+notifications`.
 */
function isUnread(address: string): boolean {
  const localPart = readLocalPart(address);
  const names = localPart.replace(/(?<=.)\+.*$/su, '').split(/[._-]+/);
  if (names.every((word) => NOTIFIER.test(word)) || /^notif(?:ier|ications?)$/.test(names.at(-1) ?? '')) return true;
  const words = localPart.split(/[._+-]+/);
  const begins = words.slice(0, MAX_NAME_WORDS).map((_, at) => words.slice(at, at + MAX_UNREAD_WORDS));
  return begins.some((some) => some.some((_, at) => UNREAD.test(some.slice(0, at + 1).join(''))));
}

/** Names of programs that notify. */
const NOTIFIER = /^(?:notif(?:y|ier|ications?)|alerts?|mailer|system)$/;
/** Words of the name of an address that are read. */
const MAX_NAME_WORDS = 8;
/** Words of "please do not reply". */
const MAX_UNREAD_WORDS = 4;

function readLocalPart(address: string): string {
  return address.slice(0, address.lastIndexOf('@')).toLowerCase();
}

/** Characters of a subject that may be one of an acknowledgement. */
const MAX_SUBJECT_LENGTH = 200;

/** Values that say that a field does not apply. */
const NEGATIVE = /^(?:no|none|false|off|0|never)?$/;

/** What the other fields of a message say. */
interface MailFacts {
  isReply: boolean;
  /** whether a field beside the subject says that a help desk may have written it: its address, its fields, or the message it responds to */
  isOfHelpDesk: boolean;
  isOfCalendar: boolean;
}

/**
 * Whether a subject, behind the tag of a help desk, is one with which it acknowledges a request. People write such subjects, too: without
 * another sign, only a noun that ends the subject or has a number counts, and a sentence with the number of a ticket.
 */
function isAcknowledgement(subject: string, isOfHelpDesk: boolean): boolean {
  const untagged = subject.replace(/^(?:\[[^\]]{1,40}\]|【[^】]{1,40}】)\s*/u, '');
  const hasTicket = isOfHelpDesk || TICKET_NUMBER.test(subject);
  return [subject, untagged].some((text) => {
    if (hasTicket && ACKNOWLEDGEMENT_SENTENCE.test(text)) return true;
    const noun = ACKNOWLEDGEMENT_NOUN.exec(text)?.[0];
    if (noun === undefined) return false;
    if (isOfHelpDesk) return true;
    return !OWN_REQUEST.test(text) && (noun.length === text.length || PLAIN_NUMBER.test(text) || hasTicket);
  });
}

/** `value` is trimmed, in lower case. */
function isAutomatic(name: string, value: string, { isReply, isOfHelpDesk, isOfCalendar }: MailFacts): boolean {
  switch (name) {
    case 'auto-submitted':
    case 'x-auto-submitted':
      // RFC 3834 §5: parameters and comments may follow the keyword.
      return !/^no(?:$|[\s;(])/.test(value);
    case 'precedence':
    case 'x-precedence':
    // BoxTrapper
    case 'preference':
      return /^(?:bulk|list|junk|auto[_-]?reply)\b/.test(value);
    case 'x-auto-response-suppress':
      return /\b(?:all|oof|auto[-_]?reply)\b/.test(value);
    case 'content-type':
      return (
        value.startsWith('multipart/report') || /^text\/calendar\b.*method="?(?:reply|counter|refresh)/.test(value)
      );
    case 'x-autogenerated':
      // CommuniGate Pro: mail that a rule redirects is its author's.
      return !/^(?:mirror|redirect)/.test(value);
    case 'x-sfdc-emailcategory':
      return /auto|workflow|alert/.test(value);
    case 'x-notes-item':
      return /out ?of ?office|assistmail/.test(value);
    case 'managed-by':
      return /^rt\b/.test(value);
    case 'x-zammad-send-auto-response':
      return false;
    case 'x-spam-flag':
      return value.startsWith('yes');
    case 'feedback-id':
      // Amazon SES adds its own to every message.
      return !value.endsWith(':amazonses');
    case 'x-post-messageclass':
    case 'delivered-to':
      return /\bauto-?responder\b/.test(value);
    case 'thread-topic':
      return /^auto-?respon/.test(value);
    case 'x-apple-action':
      return value.includes('vacation');
    case 'x-mailer':
    case 'user-agent':
      return PROGRAM_MAILER.test(value);
    case 'subject':
      if (isOfCalendar && CALENDAR_RESPONSE.test(value)) return true;
      if (isAcknowledgement(value.slice(0, MAX_SUBJECT_LENGTH), isOfHelpDesk)) return true;
      if (!isAutomaticSubject(value)) return false;
      // What people write as well counts in a response whose subject does not begin as theirs do.
      if (ABOUT_ABSENCE.test(value) || isAbsenceNotice(value)) return isReply && !REPLY_SUBJECT.test(value);
      return true;
    default:
      if (name.startsWith('list-')) return true;
      // List-Id and its like, as servers before RFC 2919 wrote them.
      if (/^x-list-(?:id|name|post|help|subscribe|unsubscribe|archive|owner|admin|software|server)$/.test(name))
        return true;
      if (AUTOMATIC_FIELDS.includes(name) && value === '') return true;
      return (MARKING_FIELDS.has(name) || MARKING_NAME.test(name) || PROGRAM_FIELD.test(name)) && !NEGATIVE.test(value);
  }
}
