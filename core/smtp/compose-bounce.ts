import { foldLines } from 'nodemailer/lib/mime-funcs';
import MimeNode from 'nodemailer/lib/mime-node';
import { BOUNDARY_PREFIX, checked, makeBoundary } from '../mime/compose-message.ts';
import { endOfHeaderSection } from '../mime/header-fields.ts';
import { replyLinks } from '../sending/address-reply.ts';

/** A recipient that was given up. */
interface GivenUpRecipient {
  address: string;
  /** number of attempts */
  attempts: number;
  /** status of the last reply, such as `4.2.2` (RFC 3463); null when there was none */
  status: string | null;
  /** of the last reply; null when no server replied */
  code: number | null;
  text: string | null;
  /** name of the last server; null when none was reached */
  host: string | null;
}

/** Input of a DSN. */
export interface BounceDraft {
  /** `<local@domain>` of the DSN */
  messageId: string;
  date: Date;
  /** EHLO name of this service */
  mailHostname: string;
  /** recipient of the DSN: the sender of the original */
  to: string;
  original: {
    messageId: string;
    inReplyTo: readonly string[];
    references: readonly string[];
    subject: string;
    queuedAt: Date;
    /** composed bytes; null when they were removed */
    bytes: Buffer | null;
  };
  recipients: readonly GivenUpRecipient[];
}

/** RFC 3463 §3.5: delivery time expired. */
const EXPIRED = '4.4.7';
/** Maximum characters of the subject and of a server's text in the DSN. */
const MAX_SUBJECT_LENGTH = 200;
const MAX_TEXT_LENGTH = 500;
/** Maximum bytes of the original's header section in the DSN. */
const MAX_HEADER_BYTES = 65_536;

/**
 * Composes the DSN of a message that was given up (RFC 3464, RFC 6522): an explanation, a machine-readable part, and the header section
 * of the original. It replies to the original, so it joins the same thread. The same input gives the same bytes.
 */
export async function composeBounce(draft: BounceDraft): Promise<Buffer> {
  const { original, mailHostname } = draft;
  const { references } = replyLinks(original);
  const report = new MimeNode('multipart/report; report-type=delivery-status', {
    disableFileAccess: true,
    disableUrlAccess: true,
    boundaryPrefix: BOUNDARY_PREFIX,
    baseBoundary: makeBoundary(draft.messageId),
  });
  report.setHeader({
    From: { name: 'Mail Delivery System', address: `MAILER-DAEMON@${mailHostname}` },
    To: { address: draft.to },
    Subject: `Undelivered mail: ${oneLine(original.subject, MAX_SUBJECT_LENGTH)}`.trim(),
    'Message-ID': draft.messageId,
    Date: draft.date,
    'In-Reply-To': original.messageId,
    References: references.join(' '),
    // RFC 3834 §5: keeps machines from replying.
    'Auto-Submitted': 'auto-replied',
  });
  report.createChild('text/plain; charset=utf-8').setContent(inWords(draft));
  report.createChild('message/delivery-status').setContent(forMachines(draft));
  const header = findHeader(original.bytes);
  if (header !== null) report.createChild('text/rfc822-headers').setContent(header);
  return checked(await report.build());
}

function inWords({ original, recipients }: BounceDraft): string {
  const subject = oneLine(original.subject, MAX_SUBJECT_LENGTH);
  return [
    'Your message could not be delivered to:',
    '',
    ...recipients.flatMap((recipient) => {
      const tries = recipient.attempts === 1 ? 'once' : `${recipient.attempts} times`;
      const lastReply = [recipient.code, recipient.status, oneLine(recipient.text ?? '', MAX_TEXT_LENGTH)]
        .filter((part) => part !== null && part !== '')
        .join(' ');
      return [
        `  ${oneLine(recipient.address, MAX_TEXT_LENGTH)}`,
        `    Delivery was attempted ${tries}. The last reply was: ${lastReply === '' ? 'none' : lastReply}`,
        '',
      ];
    }),
    'No server rejected it permanently, but delivery failed for too long. It will not be retried.',
    '',
    `Subject: ${subject === '' ? '(none)' : subject}`,
    `Sent: ${toDate(original.queuedAt)}`,
    '',
  ].join('\r\n');
}

/** RFC 3464 §2.2, §2.3 */
function forMachines({ mailHostname, original, recipients }: BounceDraft): string {
  const ofMessage = [`Reporting-MTA: dns; ${mailHostname}`, `Arrival-Date: ${toDate(original.queuedAt)}`];
  const groups = recipients.map(({ address, status, code, text, host }) => {
    const words = oneLine(text ?? '', MAX_TEXT_LENGTH);
    const diagnosis = code === null ? `X-Postroom; ${words}` : `smtp; ${code} ${words}`;
    return [
      `Final-Recipient: rfc822; ${address}`,
      'Action: failed',
      `Status: ${status ?? EXPIRED}`,
      ...(host === null ? [] : [`Remote-MTA: dns; ${host}`]),
      ...(code === null && words === '' ? [] : [`Diagnostic-Code: ${diagnosis}`]),
    ];
  });
  const toGroup = (fields: string[]) => fields.map((field) => `${foldLines(toAscii(field))}\r\n`).join('');
  return [ofMessage, ...groups].map(toGroup).join('\r\n');
}

function findHeader(bytes: Buffer | null): Buffer | null {
  if (bytes === null) return null;
  const end = endOfHeaderSection(bytes);
  return end > MAX_HEADER_BYTES ? null : bytes.subarray(0, end);
}

/** RFC 5322 §3.3 */
function toDate(date: Date): string {
  return date.toUTCString().replace('GMT', '+0000');
}

function oneLine(text: string, maxLength: number): string {
  return text
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, maxLength)
    .toWellFormed();
}

function toAscii(field: string): string {
  return field.replace(/[^\x20-\x7e]/gu, '?');
}
