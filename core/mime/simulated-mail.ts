import { foldLines } from 'nodemailer/lib/mime-funcs';
import MimeNode from 'nodemailer/lib/mime-node';
import { outgoingMailbox } from '../sending/outgoing-addresses.ts';
import type { OutgoingAttachment } from '../sending/outgoing-attachments.ts';
import type { Mailbox } from './address.ts';
import { BOUNDARY_PREFIX, checked, composeMessage, type Draft, makeBoundary } from './compose-message.ts';

/** Kinds of test messages that users can receive. */
export const SIMULATED_KINDS = ['plain', 'reply', 'newsletter', 'attachment', 'one-time-code', 'spam'] as const;
export type SimulatedKind = (typeof SIMULATED_KINDS)[number];

/** Inputs of a test message. */
export interface SimulatedMailFacts {
  kind: SimulatedKind;
  from: Mailbox;
  /** the recipient, one of our addresses */
  to: string;
  /** `<local@domain>` */
  messageId: string;
  date: Date;
  /** six digits */
  code: string;
  /** for kind reply: the message it replies to */
  original: { subject: string; text: string | null; inReplyTo: string | null; references: readonly string[] } | null;
}

/** The user's values instead of the template's; null: the template's. */
export interface SimulatedContent {
  subject: string | null;
  text: string | null;
  html: string | null;
}

/** Of a domain reserved for examples (RFC 2606). */
export const SIMULATED_SENDER: Mailbox = { name: 'Ann Example', address: 'ann@example.com' };

/** Composes a test message as a server would send it. The same facts give the same bytes. */
export async function composeSimulatedMail(facts: SimulatedMailFacts, given: SimulatedContent): Promise<Buffer> {
  const template = TEMPLATES[facts.kind](facts);
  // If the user gives one body, the template's other body is dropped.
  const bodies = given.text === null && given.html === null ? template : given;
  const draft: Draft = {
    messageId: facts.messageId,
    date: facts.date,
    from: facts.from,
    to: [writableRecipient(facts.to)],
    cc: [],
    replyTo: [],
    subject: given.subject ?? template.subject,
    text: bodies.text,
    html: bodies.html,
    inReplyTo: facts.original?.inReplyTo ?? null,
    references: facts.original?.references ?? [],
    fields: template.fields ?? [],
    attachments: template.attachments ?? [],
  };
  return composeMessage(draft);
}

interface Template {
  subject: string;
  text: string | null;
  html: string | null;
  fields?: readonly (readonly [string, string])[];
  attachments?: readonly OutgoingAttachment[];
}

const TEMPLATES: Record<SimulatedKind, (facts: SimulatedMailFacts) => Template> = {
  plain: () => ({
    subject: 'A question',
    text: 'Hello,\n\nis this still available? Grüße!\n\nAnn Example\n',
    html: null,
  }),
  reply: ({ original }) => ({
    subject: original?.subject ?? 'Re: your message',
    text: `Thank you, that works for me.\n\nAnn Example\n${quoted(original?.text ?? null)}`,
    html: null,
  }),
  newsletter: ({ from }) => ({
    subject: 'News of the week',
    text: 'This week: three stories.\n\nRead them: https://www.example.com/news\n\nUnsubscribe: https://www.example.com/unsubscribe\n',
    html: '<h1>News of the week</h1><p>This week: <a href="https://www.example.com/news">three stories</a>.</p><p><small><a href="https://www.example.com/unsubscribe">Unsubscribe</a></small></p>',
    fields: [
      ['List-Id', 'News of Example <news.example.com>'],
      ['List-Unsubscribe', `<https://www.example.com/unsubscribe>, <mailto:${from.address}?subject=unsubscribe>`],
      ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
      ['Precedence', 'bulk'],
    ],
  }),
  attachment: () => ({
    subject: 'Our invoice',
    text: 'Please find the invoice attached.\n\nAnn Example\n',
    html: '<p>Please find the invoice attached.</p><p><img src="cid:logo" alt="logo"></p><p>Ann Example</p>',
    attachments: [
      { filename: 'invoice.csv', content: CSV, contentType: 'text/csv; charset=utf-8', contentId: null },
      { filename: 'logo.png', content: PICTURE, contentType: 'image/png', contentId: '<logo>' },
    ],
  }),
  'one-time-code': ({ code }) => ({
    subject: `${code} is your code`,
    text: `Your verification code is ${code}\n\nIt is valid for 10 minutes. Or open this link:\nhttps://www.example.com/verify?code=${code}\n`,
    html: `<p>Your verification code is</p><p style="font-size: 24px"><b>${code}</b></p><p>It is valid for 10 minutes. Or <a href="https://www.example.com/verify?code=${code}">open this link</a>.</p>`,
    fields: [['Auto-Submitted', 'auto-generated']],
  }),
  spam: () => ({
    subject: 'YOU ARE A WINNER!!! Claim your FREE prize now',
    text: `Dear friend,\n\nclick here to claim $1,000,000: http://192.0.2.1/prize\n\n${SPAM_MARK}\n`,
    html: `<p>Dear friend,</p><p><a href="http://192.0.2.1/prize">click here to claim <b>$1,000,000</b></a></p><p>${SPAM_MARK}</p>`,
    fields: [
      ['X-Spam-Flag', 'YES'],
      ['X-Spam-Score', '25.0'],
    ],
  }),
};

/** The standard test string for spam filters (GTUBE). */
const SPAM_MARK = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X';
const CSV = Buffer.from('number,amount\r\n1,19.90\r\n2,5.00\r\n');
/** One transparent pixel. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** Maximum characters of the original that a reply quotes. */
const MAX_QUOTED_LENGTH = 10_000;

function quoted(text: string | null): string {
  if (text === null || text.trim() === '') return '';
  const lines = text.slice(0, MAX_QUOTED_LENGTH).toWellFormed().trim().split(/\r?\n/);
  return `\nOn an earlier day you wrote:\n${lines.map((line) => `> ${line}`).join('\n')}\n`;
}

/** The content of a message that has not been received. */
interface HypotheticalContent
  extends Pick<Draft, 'subject' | 'text' | 'html' | 'fields' | 'inReplyTo' | 'references'> {}

/** Composes a message that is not sent, to preview its route. */
export function composeHypotheticalMail(
  { from, to, date }: { from: Mailbox | null; to: string; date: Date },
  content: HypotheticalContent,
): Promise<Buffer> {
  return composeMessage({
    ...content,
    text: content.text === null && content.html === null ? '' : content.text,
    messageId: '<hypothetical@simulated.invalid>',
    date,
    from: from ?? SIMULATED_SENDER,
    to: [writableRecipient(to)],
    cc: [],
    replyTo: [],
    attachments: [],
  });
}

/** Returns the recipient for the To field; an invalid one is rejected later. */
function writableRecipient(to: string): Mailbox {
  return outgoingMailbox({ name: null, address: to.trim() }) ?? { name: null, address: 'recipient@simulated.invalid' };
}

/** A test DSN of another server about one of our messages. */
interface SimulatedBounceFacts {
  /** `<local@domain>` */
  messageId: string;
  date: Date;
  /** the recipient that it reports */
  recipient: string;
  /** its own recipient: the return address */
  to: string;
  /** RFC 3463, such as `5.1.1`; class 5: the recipient bounces, class 4: it is delayed */
  status: string;
  original: { messageId: string; subject: string };
}

/** Returns whether a text is an enhanced status code for a failure or delay (RFC 3463 §2). */
export function isTroubleStatus(status: string): boolean {
  return /^[45]\.\d{1,3}\.\d{1,3}$/.test(status);
}

/** Composes the DSN (RFC 3464) as the recipient's server would send it. The same facts give the same bytes. */
export async function composeSimulatedBounce(facts: SimulatedBounceFacts): Promise<Buffer> {
  const { recipient, status, original } = facts;
  const host = `mx.${recipient.slice(recipient.lastIndexOf('@') + 1)}`;
  const isFinal = status.startsWith('5');
  const words = isFinal ? 'The recipient could not be reached' : 'The recipient cannot be reached now';
  const report = new MimeNode('multipart/report; report-type=delivery-status', {
    disableFileAccess: true,
    disableUrlAccess: true,
    boundaryPrefix: BOUNDARY_PREFIX,
    baseBoundary: makeBoundary(facts.messageId),
  });
  report.setHeader({
    From: { name: 'Mail Delivery Subsystem', address: `MAILER-DAEMON@${host}` },
    To: { address: facts.to },
    Subject: isFinal ? 'Undelivered Mail Returned to Sender' : 'Delayed Mail (still being retried)',
    'Message-ID': facts.messageId,
    Date: facts.date,
    'In-Reply-To': original.messageId,
    'Auto-Submitted': 'auto-replied',
  });
  report
    .createChild('text/plain; charset=utf-8')
    .setContent(`${words}: ${recipient}\r\n\r\nThis report is a test.\r\n`);
  const groups = [
    [`Reporting-MTA: dns; ${host}`],
    [
      `Final-Recipient: rfc822; ${recipient}`,
      `Action: ${isFinal ? 'failed' : 'delayed'}`,
      `Status: ${status}`,
      `Remote-MTA: dns; ${host}`,
      `Diagnostic-Code: smtp; ${isFinal ? 550 : 450} ${status} ${words} (test)`,
    ],
  ];
  const content = groups.map((fields) => fields.map((field) => `${foldLines(field)}\r\n`).join('')).join('\r\n');
  report.createChild('message/delivery-status').setContent(content);
  const subject = original.subject.replace(/[^\x20-\x7e]+/g, '?').slice(0, 200);
  report
    .createChild('text/rfc822-headers')
    .setContent(`Message-ID: ${original.messageId}\r\n${foldLines(`Subject: ${subject}`)}\r\n`);
  return checked(await report.build());
}
