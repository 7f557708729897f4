import { type BounceCase, dsn, plain, withOriginal } from './bounce-case.ts';

const failed = (status: string, diagnosis: string, final = 'rfc822; joe@dest.test') =>
  `Final-Recipient: ${final}\nAction: failed\nStatus: ${status}\nDiagnostic-Code: ${diagnosis}`;
const refused = (outcome: 'hard' | 'soft', status: string, diagnosis: string) =>
  dsn('Refusal', outcome, { fields: failed(status, `smtp; ${diagnosis}`) });

/** Refusals whose words and codes disagree, broken machine-readable parts, and mail that is no report. */
export const REFUSALS: readonly BounceCase[] = [
  refused('hard', '5.7.1', '554 5.7.1 <joe@dest.test>: Recipient address rejected: user unknown'),
  refused('hard', '5.7.1', '550 5.7.1 no such recipient'),
  refused('hard', '4.1.1', '450 4.1.1 unknown user joe@dest.test'),
  refused('hard', '4.4.7', '451 4.4.7 Delivery time expired; last error: 550 no such user'),
  refused('hard', '5.3.0', '553 5.3.0 <joe@dest.test>... No such user'),
  refused('hard', '5.4.6', '554 5.4.6 No such domain at this location'),
  refused('hard', '5.1.2', '550 5.1.2 bad destination system'),
  refused('hard', '5.2.1', '550 5.2.1 <joe@dest.test>... User unknown'),
  refused('soft', '5.7.1', '554 5.7.1 <us@sender.test>: Sender address rejected: User unknown in virtual alias table'),
  refused('soft', '5.1.8', '553 5.1.8 <us@sender.test>... Domain of sender address us@sender.test does not exist'),
  refused('soft', '5.5.2', '504 5.5.2 <localhost>: Helo command rejected: Host not found'),
  refused('soft', '4.7.1', '450 4.7.1 Client host rejected: cannot find your hostname, [192.0.2.9]'),
  refused('soft', '5.2.1', '550 5.2.1 The email account that you tried to reach is disabled.'),
  refused('soft', '5.7.1', '550 5.7.1 Message rejected as spam by content filtering'),
  refused('soft', '5.7.1', '550 5.7.1 Mail from 192.0.2.9 refused by blackhole site dnsbl.sorbs.net'),
  refused('soft', '5.0.0', '550 Administrative prohibition'),
  refused('soft', '5.2.2', '552 5.2.2 Quota exceeded (mailbox for user is full)'),
  refused('soft', '4.3.2', '451 4.3.2 Please try again later'),
  refused('soft', '5.0.0', '550 Unable to verify sender address us@sender.test: no such user'),
  refused('soft', '5.7.1', '550 5.7.1 DKIM unverified and SPF fail, unknown sender domain'),
  dsn('Broken report', 'hard', {
    fields: 'Final-Recipient: LOCAL; joe@dest.test\nAction: failed\nDiagnostic-Code: X-LOCAL; user unknown',
  }),
  dsn('Broken report', 'hard', {
    fields:
      'Final-Recipient: x-domino; joe@dest.test\nAction: Failed (permanent)\nStatus: 5.0.0\nDiagnostic-Code: X-Domino; no such user',
  }),
  dsn('Broken report', 'hard', {
    fields: 'Final-Recipient: rfc822; joe@dest.test\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 user unknown',
  }),
  dsn('Broken report', 'hard', {
    text: '<joe@dest.test>: 550 5.1.1 user unknown',
    fields: 'Action: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 user unknown',
  }),
  dsn('Broken report', 'hard', {
    fields:
      'Final-Recipient: rfc822; joe\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 joe: user unknown',
  }),
  dsn('Broken report', 'hard', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: [5.1.1]\nDiagnostic-Code: SMTP;550 [5.1.1] <joe@dest.test>',
  }),
  plain(
    'A person',
    'unknown',
    'Thanks for the invoice. My colleague says her mail to you was answered with "user unknown". Is your address right?',
    { from: 'Joe <joe@dest.test>', subject: 'Re: Invoice 4711' },
  ),
  plain(
    'A person',
    'automatic-reply',
    'I am out of the office until Monday. The mailbox mary@dest.test does not exist any more.',
    { from: 'Joe <joe@dest.test>', subject: 'Out of office: Invoice 4711', header: 'Auto-Submitted: auto-replied\n' },
  ),
  withOriginal('A person', 'unknown', 'Please send it to Mary instead.', {
    from: 'Joe <joe@dest.test>',
    subject: 'Re: Invoice 4711',
  }),
];
