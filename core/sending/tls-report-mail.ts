import MimeNode from 'nodemailer/lib/mime-node';
import { BOUNDARY_PREFIX, checked, makeBoundary } from '../mime/compose-message.ts';
import { type TlsReportSubject, tlsReportFileName } from './tls-report.ts';

export interface TlsReportMail {
  report: TlsReportSubject;
  /** JSON, gzip */
  content: Buffer;
  to: string;
  messageId: string;
  date: Date;
}

/** Returns the subject of a report by email (RFC 8460 §5.3). */
export function tlsReportTitle({ domain, submitter, reportId }: TlsReportSubject, messageId: string): string {
  const domainOfId = messageId.slice(messageId.lastIndexOf('@') + 1, -1);
  return `Report Domain: ${domain} Submitter: ${submitter} Report-ID: <${reportId}@${domainOfId}>`;
}

/** Composes a report as an email (RFC 8460 §5.3). */
export async function composeTlsReportMail({ report, content, to, messageId, date }: TlsReportMail): Promise<Buffer> {
  const { domain, submitter, contact, day } = report;
  const mail = new MimeNode('multipart/report; report-type=tlsrpt', {
    disableFileAccess: true,
    disableUrlAccess: true,
    // nodemailer would write Tls-Report-Domain.
    normalizeHeaderKey: (key) => key.replace(/^Tls-/, 'TLS-'),
    boundaryPrefix: BOUNDARY_PREFIX,
    baseBoundary: makeBoundary(messageId),
  });
  mail.setHeader({
    From: { name: 'Postroom', address: contact },
    To: { address: to },
    Subject: tlsReportTitle(report, messageId),
    'Message-ID': messageId,
    Date: date.toUTCString().replace('GMT', '+0000'),
    'TLS-Report-Domain': domain,
    'TLS-Report-Submitter': submitter,
    'Auto-Submitted': 'auto-generated',
  });
  const text = `This is an aggregate TLS report of ${submitter} about mail to ${domain} on ${day} (UTC).\r\n`;
  mail.createChild('text/plain; charset=utf-8').setContent(text);
  const file = mail.createChild('application/tlsrpt+gzip', { filename: tlsReportFileName(report) });
  file.setHeader('Content-Disposition', 'attachment');
  file.setHeader('Content-Transfer-Encoding', 'base64');
  file.setContent(content);
  return checked(await mail.build());
}
