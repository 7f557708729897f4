import { type BounceCase, dsn, plain } from './bounce-case.ts';

const HEAD = `From: Mail Delivery Subsystem <MAILER-DAEMON@mx.dest.test>
To: bounce@sender.test
`;

/** Reports in odd structures, encodings and charsets. */
export const REPORT_STRUCTURES: readonly BounceCase[] = [
  {
    system: 'Base64 text',
    outcome: 'hard',
    mail: `${HEAD}Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: base64

SWhyZSBOYWNocmljaHQga29ubnRlIG5pY2h0IHp1Z2VzdGVsbHQgd2VyZGVuLgoKRGVyIEVtcGbD
pG5nZXIgam9lQGRlc3QudGVzdCBpc3QgdW5iZWthbm50Lgo=`,
  },
  {
    system: 'Iso-2022-jp unlabeled',
    outcome: 'hard',
    mail: `${HEAD}Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: text/plain

\u001b$B%a!<%k$rG[?.$G$-$^$;$s$G$7$?\u001b(B

joe@dest.test: 550 5.1.1 User unknown
`,
  },
  {
    system: 'Status as text/plain',
    outcome: 'hard',
    mail: `${HEAD}Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b1"

--b1
Content-Type: text/plain; charset=us-ascii

Sorry

--b1
Content-Type: text/plain

Reporting-MTA: dns; mx

Final-Recipient: rfc822; joe@dest.test
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 No such user

--b1
Content-Type: text/rfc822-headers

From: us@sender.test
Message-ID: <m1@sender.test>

--b1--
`,
  },
  {
    system: 'Status base64',
    outcome: 'hard',
    mail: `${HEAD}Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

--b1
Content-Type: text/plain; charset=us-ascii

Sorry

--b1
Content-Type: message/delivery-status
Content-Transfer-Encoding: base64

UmVwb3J0aW5nLU1UQTogZG5zOyBteAoKRmluYWwtUmVjaXBpZW50OiByZmM4MjI7IGpvZUBkZXN0
LnRlc3QKQWN0aW9uOiBmYWlsZWQKU3RhdHVzOiA1LjEuMQo=

--b1
Content-Type: text/rfc822-headers

From: us@sender.test
Message-ID: <m1@sender.test>

--b1--
`,
  },
  {
    system: 'Status qp',
    outcome: 'hard',
    mail: `${HEAD}Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

--b1
Content-Type: text/plain; charset=us-ascii

Sorry

--b1
Content-Type: message/delivery-status
Content-Transfer-Encoding: quoted-printable

Reporting-MTA: dns; mx

Final-Recipient: rfc822; joe=40dest.test
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 no =
such user

--b1
Content-Type: text/rfc822-headers

From: us@sender.test
Message-ID: <m1@sender.test>

--b1--
`,
  },
  {
    system: 'Lower-case fields',
    outcome: 'hard',
    mail: `${HEAD}Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

--b1
Content-Type: text/plain; charset=us-ascii

x

--b1
Content-Type: message/delivery-status

reporting-mta: dns; mx

final-recipient: rfc822; joe@dest.test
action: Failed
status: 5.1.1 (bad mailbox)

--b1
Content-Type: text/rfc822-headers

From: us@sender.test
Message-ID: <m1@sender.test>

--b1--
`,
  },
  dsn('Folded diagnostic', 'hard', {
    fields: `Final-Recipient: rfc822;
 joe@dest.test
Action: failed
Status: 5.0.0
Diagnostic-Code: smtp;
 550-5.1.1
	User
 unknown`,
  }),
  dsn('Action with comment', 'hard', {
    fields: `Final-Recipient: LOCAL; <joe@dest.test>
Action: failed (user unknown)
Status: 5.1.1`,
  }),
  {
    system: 'No blank line between groups',
    outcome: 'hard',
    mail: `${HEAD}Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

--b1
Content-Type: text/plain; charset=us-ascii

x

--b1
Content-Type: message/delivery-status

Reporting-MTA: dns; mx
Final-Recipient: rfc822; joe@dest.test
Action: failed
Status: 5.1.1

--b1
Content-Type: text/rfc822-headers

From: us@sender.test
Message-ID: <m1@sender.test>

--b1--
`,
  },
  dsn('Expired', 'soft', {
    fields: `Final-Recipient: rfc822; joe@dest.test
Action: failed
Status: 4.4.7`,
  }),
  dsn('Null mx', 'hard', {
    fields: `Final-Recipient: rfc822; joe@dest.test
Action: failed
Status: 5.1.10`,
  }),
  dsn('Only 5.2.1', 'soft', {
    fields: `Final-Recipient: rfc822; joe@dest.test
Action: failed
Status: 5.2.1`,
  }),
  dsn('Only 5.7.1', 'soft', {
    fields: `Final-Recipient: rfc822; joe@dest.test
Action: failed
Status: 5.7.1`,
  }),
  dsn('Only 5.1.2', 'hard', {
    fields: `Final-Recipient: rfc822; joe@dest.test
Action: failed
Status: 5.1.2`,
  }),
  dsn('Only 5.4.4', 'hard', {
    fields: `Final-Recipient: rfc822; joe@dest.test
Action: failed
Status: 5.4.4`,
  }),
  dsn('Delayed user unknown', 'delay', {
    fields: `Final-Recipient: rfc822; joe@dest.test
Action: delayed
Status: 4.1.1
Diagnostic-Code: smtp; 450 4.1.1 user unknown`,
  }),
  {
    system: 'Report inside mixed',
    outcome: 'hard',
    mail: `${HEAD}Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="o"

--o
Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

--b1
Content-Type: text/plain

failed

--b1
Content-Type: message/delivery-status

Reporting-MTA: dns; mx

Final-Recipient: rfc822; joe@dest.test
Action: failed
Status: 5.1.1

--b1--

--o
Content-Type: text/plain

footer of a scanner
--o--
`,
  },
  {
    system: 'Global status',
    outcome: 'hard',
    mail: `${HEAD}Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

--b1
Content-Type: text/plain; charset=us-ascii

x

--b1
Content-Type: message/global-delivery-status

Reporting-MTA: dns; mx

Final-Recipient: utf-8; jöe@dest.test
Action: failed
Status: 5.1.1

--b1
Content-Type: text/rfc822-headers

From: us@sender.test
Message-ID: <m1@sender.test>

--b1--
`,
  },
  {
    system: 'Html only with table',
    outcome: 'hard',
    mail: `${HEAD}Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: text/html; charset=utf-8

<html><body><h1>Delivery has failed</h1><table><tr><td>Recipient</td><td>joe@dest.test</td></tr><tr><td>Error</td><td>550 5.1.1 The e&#8209;mail account does not exist</td></tr></table></body></html>`,
  },
  {
    system: 'Alternative',
    outcome: 'hard',
    mail: `${HEAD}Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary="a"

--a
Content-Type: text/plain; charset=utf-8

Delivery failed: joe@dest.test, mailbox does not exist.

--a
Content-Type: text/html

<p>Delivery failed</p>
--a--
`,
  },
  {
    system: 'Subject only',
    outcome: 'hard',
    mail: `${HEAD}Subject: Returned mail: User unknown
MIME-Version: 1.0
Content-Type: text/plain

joe@dest.test
`,
  },
  plain(
    'Quoted report',
    'hard',
    `> This is an automatically generated Delivery Status Notification.
>
> Delivery to the following recipients failed.
>
>        joe@dest.test
>
> 550 5.1.1 unknown user
`,
  ),
  dsn('X500 recipient', 'hard', {
    fields: `Final-Recipient: X400; /S=joe/O=dest/
Original-Recipient: rfc822; joe@dest.test
Action: failed
Status: 5.1.1`,
  }),
  dsn('Diagnostic with x-unix', 'hard', {
    fields: `Final-Recipient: rfc822; joe@dest.test
Action: failed
Status: 5.1.1
Diagnostic-Code: X-Unix; 67`,
  }),
  dsn('X-unix 75', 'soft', {
    fields: `Final-Recipient: rfc822; joe@dest.test
Action: failed
Status: 5.3.0
Diagnostic-Code: X-Unix; 255`,
  }),
  {
    system: 'Utf-16 text',
    outcome: 'hard',
    mail: `${HEAD}Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-16le
Content-Transfer-Encoding: base64

RABlAGwAaQB2AGUAcgB5ACAAZgBhAGkAbABlAGQADQAKAA0ACgBqAG8AZQBAAGQAZQBzAHQALgB0
AGUAcwB0ADoAIAB1AHMAZQByACAAdQBuAGsAbgBvAHcAbgANAAoA`,
  },
  dsn('Status 550 5.1.1 without class in Status', 'hard', {
    fields: `Final-Recipient: rfc822; joe@dest.test
Action: failed
Status: 550 5.1.1
Diagnostic-Code: smtp; 550 5.1.1`,
  }),
  plain(
    'Bare 5.1.1 text',
    'hard',
    `Delivery to the following recipient failed permanently:

joe@dest.test

#5.1.1
`,
  ),
  {
    system: 'Truncated multipart',
    outcome: 'hard',
    mail: `${HEAD}Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

--b1
Content-Type: text/plain

failed
--b1
Content-Type: message/delivery-status

Reporting-MTA: dns; mx

Final-Recipient: rfc822; joe@dest.test
Action: failed
Status: 5.1.1`,
  },
  {
    system: 'Boundary missing',
    outcome: 'hard',
    mail: `${HEAD}Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status

--b1
Content-Type: text/plain

failed
--b1
Content-Type: message/delivery-status

Reporting-MTA: dns; mx

Final-Recipient: rfc822; joe@dest.test
Action: failed
Status: 5.1.1
--b1--
`,
  },
  {
    system: 'CR only',
    outcome: 'hard',
    mail: `${HEAD}Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: text/plain

Delivery failed.\rjoe@dest.test\r550 no such user\r`,
  },
  plain(
    'Sms gateway',
    'hard',
    `The message to 15551234@dest.test could not be delivered: Invalid destination number, subscriber unknown.
`,
  ),
];
