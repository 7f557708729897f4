/** What a report must be read as: `hard` also suppresses its recipient; `soft` and `delay` never do. */
export type Outcome = 'hard' | 'soft' | 'delay' | 'delivered' | 'automatic-reply' | 'unknown';

/** A message at a return address, written after the template of a mail system. */
export interface BounceCase {
  system: string;
  outcome: Outcome;
  mail: string;
}

interface Envelope {
  from?: string;
  subject?: string;
  /** further fields of the header section, each with its line break */
  header?: string;
}

const HEAD = ({ from, subject, header = '' }: Envelope) =>
  `From: ${from ?? 'Mail Delivery Subsystem <MAILER-DAEMON@mx.dest.test>'}\nTo: bounce@sender.test\nSubject: ${
    subject ?? 'Undelivered Mail Returned to Sender'
  }\n${header}MIME-Version: 1.0\n`;
const UTF8 = 'charset=utf-8\nContent-Transfer-Encoding: 8bit\n';

/** Returns a report in plain text. */
export function plain(system: string, outcome: Outcome, text: string, envelope: Envelope = {}): BounceCase {
  return { system, outcome, mail: `${HEAD(envelope)}Content-Type: text/plain; ${UTF8}\n${text}\n` };
}

/** Returns a report in HTML alone. */
export function html(system: string, outcome: Outcome, text: string, envelope: Envelope = {}): BounceCase {
  return {
    system,
    outcome,
    mail: `${HEAD(envelope)}Content-Type: text/html; ${UTF8}\n<html><body>${text}</body></html>\n`,
  };
}

/** Returns a report with a machine-readable part, whose fields about the recipient are given, and the returned header section. */
export function dsn(
  system: string,
  outcome: Outcome,
  { text = 'Your message was not delivered.', fields }: { text?: string; fields: string },
  envelope: Envelope = {},
): BounceCase {
  return {
    system,
    outcome,
    mail: `${HEAD(envelope)}Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

--b1
Content-Type: text/plain; ${UTF8}
${text}

--b1
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.dest.test

${fields}

--b1
Content-Type: text/rfc822-headers

From: Us <us@sender.test>
To: joe@dest.test
Subject: Invoice 4711
Message-ID: <m1@sender.test>

--b1--
`,
  };
}

/** Returns a text and the original message beside it, without a machine-readable part. */
export function withOriginal(system: string, outcome: Outcome, text: string, envelope: Envelope = {}): BounceCase {
  return {
    system,
    outcome,
    mail: `${HEAD(envelope)}Content-Type: multipart/mixed; boundary="b1"

--b1
Content-Type: text/plain; ${UTF8}
${text}

--b1
Content-Type: message/rfc822

From: Us <us@sender.test>
To: joe@dest.test
Subject: Invoice 4711
Message-ID: <m1@sender.test>

Please pay. If the address does not exist, user unknown, tell us.

--b1--
`,
  };
}

/** The words of a server, and what they mean. */
export type ServerReply = readonly [system: string, outcome: Outcome, said: string];

/** Returns a report whose machine-readable part has the server's reply and no status that says anything. */
export function replied([system, outcome, said]: ServerReply): BounceCase {
  return dsn(system, outcome, {
    text: `<joe@dest.test>: host mx.dest.test[192.0.2.7] said: ${said}`,
    fields: `Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0\nRemote-MTA: dns; mx.dest.test\nDiagnostic-Code: smtp; ${said}`,
  });
}

/** Returns a report whose text is encoded as the fields say. */
export function encoded(system: string, outcome: Outcome, mail: string): BounceCase {
  return { system, outcome, mail };
}

/** Returns a header section with fields of its own. */
export function head(subject: string, contentType: string, fields: string): string {
  return `From: Mail Delivery Subsystem <MAILER-DAEMON@mx.dest.test>\nTo: bounce@sender.test\nSubject: ${subject}\n${fields}MIME-Version: 1.0\nContent-Type: ${contentType}\n`;
}
