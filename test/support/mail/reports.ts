let reports = 0;

/** A DSN (RFC 3464) as servers write it; `fields` are those of its recipients, groups apart by an empty line. */
export function deliveryReport(fields: string, options: { returned?: string; from?: string } = {}): Buffer {
  return report('delivery-status', 'message/delivery-status', `Reporting-MTA: dns; mx.elsewhere.test\n\n${fields}`, {
    from: 'MAILER-DAEMON@elsewhere.test',
    ...options,
  });
}

/** Fields of a recipient that bounced; `over` are further fields or the same with other values. */
export function bouncedRecipient(address: string, status = '5.1.1', diagnosis = '550 5.1.1 No such user'): string {
  return `Final-Recipient: rfc822; ${address}\nAction: failed\nStatus: ${status}\nDiagnostic-Code: smtp; ${diagnosis}\n`;
}

/** A bounce without a machine-readable part, as qmail writes it. */
export function textBounce(address: string, reply: string, from = 'MAILER-DAEMON@elsewhere.test'): Buffer {
  const lines = [
    `From: ${from}`,
    'To: <somebody@own.test>',
    'Subject: failure notice',
    `Message-ID: <report.${++reports}@elsewhere.test>`,
    '',
    'Hi. This is the qmail-send program at elsewhere.test.',
    "I'm afraid I wasn't able to deliver your message to the following addresses.",
    "This is a permanent error; I've given up. Sorry it didn't work out.",
    '',
    `<${address}>:`,
    '192.0.2.1 does not like recipient.',
    `Remote host said: ${reply}`,
    'Giving up on 192.0.2.1.',
    '',
    '--- Below this line is a copy of the message.',
    '',
    'Return-Path: <somebody@own.test>',
    'Subject: Hello, your mailbox full of spam',
    '',
    'Hello',
    '',
  ];
  return Buffer.from(lines.join('\r\n'));
}

/** A complaint (RFC 5965). */
export function complaint(fields: string, options: { returned?: string; from?: string } = {}): Buffer {
  return report('feedback-report', 'message/feedback-report', `User-Agent: Test/1.0\nVersion: 1\n${fields}`, {
    from: 'feedback@elsewhere.test',
    ...options,
  });
}

function report(kind: string, type: string, content: string, options: { returned?: string; from: string }): Buffer {
  const { from, returned = 'Message-ID: <gone@own.test>\nSubject: Hello\n' } = options;
  const lines = [
    `From: <${from}>`,
    'To: <somebody@own.test>',
    'Subject: A report',
    `Message-ID: <report.${++reports}@elsewhere.test>`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=${kind}; boundary="b"`,
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'Something happened to your mail.',
    '--b',
    `Content-Type: ${type}`,
    '',
    content,
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    returned,
    '--b--',
    '',
  ];
  return Buffer.from(lines.join('\n').replace(/\r?\n/g, '\r\n'));
}
