import { foldLines } from 'nodemailer/lib/mime-funcs';
import MimeNode from 'nodemailer/lib/mime-node';
import { BOUNDARY_PREFIX, boundaryOf, checked } from './compose-message.ts';

/** A DSN of another server about a message of ours, made to try things out. */
export interface SimulatedBounceFacts {
  /** `<local@domain>` */
  messageId: string;
  date: Date;
  /** the recipient of ours that it speaks of */
  recipient: string;
  /** the return address that it goes to */
  to: string;
  /** RFC 3463, as `5.1.1`; of class 5 the recipient bounces, of class 4 it is delayed */
  status: string;
  original: { messageId: string; subject: string };
}

/** Whether a text is an enhanced status code that a DSN may tell of trouble with (RFC 3463 §2). */
export function isTroubleStatus(status: string): boolean {
  return /^[45]\.\d{1,3}\.\d{1,3}$/.test(status);
}

/** Composes the DSN (RFC 3464) as the recipient's server would send it. The same facts give the same octets. */
export async function composeSimulatedBounce(facts: SimulatedBounceFacts): Promise<Buffer> {
  const { recipient, status, original } = facts;
  const host = `mx.${recipient.slice(recipient.lastIndexOf('@') + 1)}`;
  const isFinal = status.startsWith('5');
  const words = isFinal ? 'The recipient could not be reached' : 'The recipient cannot be reached now';
  const report = new MimeNode('multipart/report; report-type=delivery-status', {
    disableFileAccess: true,
    disableUrlAccess: true,
    boundaryPrefix: BOUNDARY_PREFIX,
    baseBoundary: boundaryOf(facts.messageId),
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
