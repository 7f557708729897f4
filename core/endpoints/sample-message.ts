/** Inputs of a sample message. */
export interface SampleFacts {
  /** the address that the message was sent to */
  recipient: string;
  /** the sender's address */
  sender: string;
  /** `<local@domain>` */
  messageId: string;
  sentAt: Date;
}

/** Of a domain reserved for examples (RFC 2606). */
export const SAMPLE_SENDER = 'ann@example.com';
const BOUNDARY = 'postroom-sample';
const TEXT = `Hello,

this is a sample message that Postroom made to test an endpoint. It has what real mail has: a text, the same as HTML, and a file. Grüße!

Ann Example
`;
const HTML = `<p>Hello,</p>
<p>this is a sample message that <b>Postroom</b> made to test an endpoint. It has what real mail has:
a text, the same as HTML, and a file. Grüße!</p>
<p>Ann Example</p>
`;
const FILE = 'number,amount\n1,19.90\n2,5.00\n';

/**
 * Returns the bytes of a message as a server would send it (RFC 5322, MIME), for testing endpoints: from the parser on it is processed
 * like real mail. Equal facts give equal bytes.
 */
export function makeSampleMessage({ recipient, sender, messageId, sentAt }: SampleFacts): Buffer {
  const date = sentAt.toUTCString().replace(/GMT$/, '+0000');
  const lines = [
    `Date: ${date}`,
    `From: Ann Example <${sender}>`,
    `To: ${recipient}`,
    'Cc: Bob Example <bob@example.com>',
    'Reply-To: Support <support@example.com>',
    'Subject: =?utf-8?Q?Sample_message_=E2=9C=89?=',
    `Message-ID: ${messageId}`,
    'In-Reply-To: <question.1@example.com>',
    'References: <question.0@example.com> <question.1@example.com>',
    'Importance: normal',
    'X-Mailer: Postroom sample',
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary="${BOUNDARY}"`,
    '',
    `--${BOUNDARY}`,
    `Content-Type: multipart/alternative; boundary="${BOUNDARY}-text"`,
    '',
    `--${BOUNDARY}-text`,
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    ...encoded(TEXT),
    `--${BOUNDARY}-text`,
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    ...encoded(HTML),
    `--${BOUNDARY}-text--`,
    `--${BOUNDARY}`,
    'Content-Type: text/csv; name="sample.csv"',
    'Content-Disposition: attachment; filename="sample.csv"',
    'Content-Transfer-Encoding: base64',
    '',
    ...encoded(FILE),
    `--${BOUNDARY}--`,
    '',
  ];
  return Buffer.from(lines.join('\r\n'), 'utf8');
}

/** RFC 2045 §6.8: lines of at most 76 characters. */
function encoded(text: string): string[] {
  return (
    Buffer.from(text.replaceAll('\n', '\r\n'), 'utf8')
      .toString('base64')
      .match(/.{1,76}/g) ?? []
  );
}
