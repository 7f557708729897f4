import { describe, expect, test } from 'vitest';
import { isAutomaticSubject } from '../../../core/mime/automatic-text.ts';
import { kindOfReport, readMailReport } from '../../../core/mime/parse-bounce.ts';
import { suppressedByReport } from '../../../core/mime/report-effects.ts';

const DAEMON = 'From: MAILER-DAEMON@mx.test\nSubject: failure notice\n';

async function read(text: string, head = DAEMON) {
  const bytes = Buffer.from(`${head}Content-Type: text/plain; charset=utf-8\n\n${text}`);
  return readMailReport(bytes, { isAtReturnAddress: true });
}

async function recipientsIn(text: string, head = DAEMON) {
  const report = await read(text, head);
  return report?.kind === 'delivery-status' ? report.recipients : [];
}

describe('the kind of a message at a return address', () => {
  const from = 'From: Joe <joe@x.test>\n';
  test.each([
    ['bounce', DAEMON, 'Sorry, I could not deliver your mail.'],
    ['bounce', 'From: Mail <>\nSubject: x\n', '<joe@x.test>: 550 No such user'],
    ['bounce', 'From: postmaster@x.test\nSubject: Unzustellbar: Hallo\n', 'Das Postfach ist voll.'],
    ['bounce', `${from}Subject: Delivery failure\n`, 'joe@x.test: User unknown'],
    [
      'bounce',
      `${from}Subject: failure notice\n`,
      'Hello,\nYour message was not delivered to bob@x.test: 550 5.1.1 User unknown',
    ],
    [
      'bounce',
      `${from}Subject: Undeliverable: Hello\n`,
      'Your message could not be delivered.\n\n550 5.1.1 User unknown\n\nWhat should I do?',
    ],
    [
      'unknown',
      'From: Postmaster <ann@x.test>\nSubject: Re: undeliverable mail\nIn-Reply-To: <1@x.test>\n',
      'Hi Joe,\n\nbob@x.test: user unknown, 550 5.1.1, is what I got. Could you send it again?',
    ],
    ['delay', DAEMON, 'Your message has been delayed. You do not need to resend it.'],
    ['delay', DAEMON, 'Ihre Nachricht wurde verzögert, die Zustellung wird weiterhin versucht.'],
    ['bounce', DAEMON, 'The message has been delayed for 5 days. I am giving up.'],
    ['automatic-reply', `${from}Subject: Hello\nAuto-Submitted: auto-replied\n`, 'The mailbox is full of joy.'],
    ['automatic-reply', `${from}Subject: AW: Abwesenheit: Hallo\n`, 'Ich bin im Urlaub.'],
    ['automatic-reply', `${from}Subject: 自動返信: Hello\n`, 'User unknown'],
    ['feedback', `${from}Subject: unsubscribe\nAuto-Submitted: auto-replied\nX-Apple-Unsubscribe: true\n`, 'Bye.'],
    ['unknown', `${from}Subject: Re: Hello\n`, 'Thank you, see you there!'],
    ['unknown', `${from}Subject: Question\n`, 'Why do such mails bounce? My mailbox is full of them.'],
    ['unknown', 'From: postmaster@x.test\nSubject: Hello\n', 'We moved our office.'],
    ['automatic-reply', `${from}Subject: Hello\n`, 'Dies ist eine automatisch erzeugte Nachricht.'],
    ['automatic-reply', `${from}Subject: Hello\n`, 'Este mensaje se ha generado automáticamente.'],
    ['unknown', `${from}Subject: Hello\n`, 'This is about the automatic reply that you sent me.'],
    ['unknown', `${from}Subject: Hello\n`, 'This automatic machine stopped after one message.'],
    ['unknown', `${from}Subject: Hello\n`, 'See below.\n\nAnn <ann@x.test> wrote:\n> This is an automatic message.'],
    ['automatic-reply', `${from}Subject: Hello\n`, 'Thank you. This mailbox is no longer monitored.'],
    ['unknown', `${from}Subject: Hello\n`, 'My account is no longer used, please close it.'],
    ['automatic-reply', `${from}Subject: Hello\n`, 'Joe Miller has left the company. Please write to Ann.'],
    ['unknown', `${from}Subject: Hello\n`, 'Bob Miller has left the company. Please write to Ann.'],
    [
      'automatic-reply',
      `${from}Subject: Re: Hello\nIn-Reply-To: <1@x.test>\n`,
      'I am out of the office until Friday. In urgent cases please contact my colleague Bob. I will return on Monday.',
    ],
    ['automatic-reply', `${from}Subject: Hello\n`, 'I am on vacation. Please contact my colleague Bob.'],
    [
      'unknown',
      `${from}Subject: Hello\n`,
      'The holiday market opens on Friday. For tickets please contact our office at info@x.test.',
    ],
    ['unknown', `${from}Subject: Hello\n`, 'Returning guests of the holiday flat please contact our office.'],
    [
      'unknown',
      `${from}Subject: Hello\n`,
      'I will be on leave next week. The offer is attached, please contact our accountant about it.',
    ],
    ['unknown', `${from}Subject: Hello\n`, 'Im Urlaub von Frau Maier macht Herr Schmidt die Vertretung im Lager.'],
    ['unknown', `${from}Subject: Hello\n`, 'Voici le tableau des congés 2026. Veuillez contacter Mme Durand.'],
    [
      'unknown',
      `${from}Subject: Re: Hello\nIn-Reply-To: <1@x.test>\n`,
      'Approved, order 500. On vacation until Friday, in urgent cases call Bob; back on Monday.',
    ],
    [
      'unknown',
      `${from}Subject: Re: Hello\nIn-Reply-To: <1@x.test>\n`,
      'Approved, order 500. I am on vacation until Friday, in urgent cases call Bob. I will be back on Monday.',
    ],
    [
      'unknown',
      `${from}Subject: Re: Hello\nIn-Reply-To: <1@x.test>\n`,
      'The holiday flat is free. Please contact our caretaker for the keys, and return them on Sunday.',
    ],
    [
      'unknown',
      `${from}Subject: Re: Hello\nIn-Reply-To: <1@x.test>\n`,
      'Das Angebot nehmen wir an. Ich bin im Urlaub, in dringenden Fällen hilft Bob, und ich bin am Montag zurück.',
    ],
    ['unknown', `${from}Subject: Hello\n`, 'Joe login no longer works at home.'],
    ['automatic-reply', `${from}Subject: Congé parental Re: Offre\n`, 'Je suis de retour en mai.'],
    ['unknown', `${from}Subject: Quick question re: your offer\n`, 'Which one is cheaper, I wonder.'],
    ['automatic-reply', `${from}Subject: 休假通知\n`, '我3月17日回来。'],
    ['unknown', `${from}Subject: Re: Out of office next week?\n`, 'No, call me on Tuesday.'],
    ['automatic-reply', `${from}Subject: Hello\n`, 'Thank you for contacting us. We will reply within two days.'],
    [
      'unknown',
      `${from}Subject: Hello\n`,
      'Thank you for contacting us. Our offer is attached; we will reply to questions.',
    ],
    ['unknown', `${from}Subject: Hello\n`, 'Dear Ann,\n\nthank you for your message. I will reply on Friday.'],
    ['automatic-reply', `${from}Subject: Hello\n`, 'Your request (#4821) has been received.'],
    ['unknown', `${from}Subject: Hello\n`, 'I have received your request (#4821). The lamp comes on Monday.'],
    ['unknown', `${from}Subject: Hello\n`, 'We got your request #4821. When do you want us to come? Call us.'],
    [
      'automatic-reply',
      `${from}Subject: Hello\n`,
      'We are closed until Monday. Your mail will be answered then; we reopen on Tuesday.',
    ],
    [
      'unknown',
      `${from}List-Unsubscribe: <https://x.test/u>\nSubject: Hello\n`,
      'We are closed until Monday and reopen on Tuesday.',
    ],
    ['automatic-reply', 'From: majordomo@x.test\nSubject: Results\n', '>>>> hello\nUnknown command.'],
    [
      'unknown',
      'From: club-request@x.test\nSubject: confirm 4711\n',
      'Reply to this message to confirm that you subscribe.',
    ],
  ])('is %s: %j', async (kind, head, text) => {
    expect(kindOfReport(await read(text, head))).toBe(kind);
  });

  test('is unknown without a return address, whatever the message says', async () => {
    const bytes = Buffer.from(`${DAEMON}\n<joe@x.test>: 550 5.1.1 User unknown\n`);
    expect(await readMailReport(bytes)).toBeNull();
  });
});

test.each([
  '-this mail',
  '. this mail mail mail',
  '. this x x x x',
  'this mailbox xxxx ',
  '. aa bb cc Joe ',
  'leave urlaub ',
  'your message ',
  'thank you for your mail thank you for ',
  'your request #1 ',
  'Ihre Anfrage Ihre ',
  'a b c d? ',
])('a text of %j is read in time that grows with its length', async (part) => {
  // Sentences about itself, repeated within one another, would not end here.
  expect(kindOfReport(await read(part.repeat(2_000), 'From: Joe <joe@x.test>\nSubject: x\n'))).toBe('unknown');
});

describe('a bounce in words', () => {
  test('names the address in X-Failed-Recipients, not the one that its text greets', async () => {
    const head = `${DAEMON}X-Failed-Recipients: joe@x.test\n`;
    const [first] = await recipientsIn('Hello ann@y.test,\n\nyour message was not delivered: no such user.', head);
    expect(first?.finalRecipient).toBe('joe@x.test');
  });

  test('takes no message id for a second recipient', async () => {
    const [first] = await recipientsIn('Error sending message [17.AB@xmail].\nRcpt=[joe@x.test] 550 unknown user');
    expect(first?.finalRecipient).toBe('joe@x.test');
  });

  test('reports each recipient by the text about it', async () => {
    const text =
      'I could not deliver it:\n\n<ann@x.test>:\nRemote host said: 550 5.1.1 User unknown\n\n<bob@x.test>:\nRemote host said:\n552 5.2.2 Mailbox\nfull\n';
    expect(await recipientsIn(text)).toMatchObject([
      { finalRecipient: 'ann@x.test', status: '5.1.1', replyCode: 550, reason: 'user_unknown', bounce: 'hard' },
      { finalRecipient: 'bob@x.test', status: '5.2.2', diagnosticCode: '552 5.2.2 Mailbox full', bounce: 'soft' },
    ]);
  });

  test('is read only up to the copy of the message', async () => {
    const text =
      'ann@x.test: Mailbox full\n\n------ This is a copy of the message ------\n\nbob@x.test: 550 5.1.1 User unknown\n';
    expect(await recipientsIn(text)).toMatchObject([{ finalRecipient: 'ann@x.test', reason: 'mailbox_full' }]);
  });

  test('may hold the fields of a machine-readable part', async () => {
    const fields = 'Final-Recipient: rfc822; ann@x.test\nAction: failed\nStatus: 5.0.0\n';
    const text = `An error occurred.\n\n${fields}Diagnostic-Code: smtp; 550 5.7.1 Blocked by policy\n`;
    expect(await recipientsIn(text)).toMatchObject([{ finalRecipient: 'ann@x.test', status: '5.7.1', bounce: 'soft' }]);
  });

  test.each([
    ['550 5.1.1 User unknown', true],
    ['550 User unknown (in reply to RCPT TO command)', true],
    ['550 User unknown (in reply to end of DATA command)', false],
    ['550 User unknown', true],
    ['450 4.1.1 User unknown', true],
    ['450 4.2.0 Greylisted', false],
    ['552 5.2.2 Mailbox full', false],
  ])('%s: suppresses its recipient: %s', async (reply, isSuppressed) => {
    const [recipient] = await recipientsIn(`<joe@x.test>: host mx.x.test said: ${reply}\n`);
    expect(recipient !== undefined && suppressedByReport(recipient)).toBe(isSuppressed);
  });

  test('a hostile text is read to the end', async () => {
    const texts = ['550 ', 'a@', '@', '<', '>', '\n', 'a.', 'x\n\n', '{', '--- ', '原\n'].map((part) =>
      part.repeat(30_000),
    );
    texts.push(Array.from({ length: 400 }, (_, at) => `a${at}@x.test: nothing to say`).join('\n'));
    for (const text of texts) expect((await recipientsIn(`Undeliverable\n${text}`)).length).toBeLessThanOrEqual(50);
  });
});

describe('the subject of an automatic reply', () => {
  test.each([
    'automatic reply thank you for your message',
    'auto reply out of office',
    'auto response your ticket 4711',
    'autoreply out of office',
    'auto-response your request has been received',
    'automated reply we have received your application',
    're: automatic reply i am away until monday',
    'automatic reply: settings',
    'auto-response your feature request',
    'yahoo! auto response',
    'automātiskā atbilde: piedāvājums',
    'automatinis atsakymas: pasiūlymas',
  ])('is recognized: %s', (subject) => {
    expect(isAutomaticSubject(subject)).toBe(true);
  });

  test.each([
    're: automatic reply settings do not work',
    'automatic reply settings',
    'auto-reply rules for the team',
    'autoresponder feature',
    'auto reply template for holidays',
    'automatic reply does not work',
    "auto response doesn't arrive",
    'automatic reply on my phone does not work',
    'auto reply message template',
    'aw: automated replies not working',
    'réponse automatique ne fonctionne pas',
    'automatische antwort geht nicht mehr',
    'abwesenheit von max am montag',
    'absence de marie le 3 mars',
    'wg: automatische antwort: angebot',
    'tr : absence du bureau : offre',
  ])('is not found in the mail of a person: %s', (subject) => {
    expect(isAutomaticSubject(subject)).toBe(false);
  });
});

// In a reply, a clause of its own must say it: people speak of such messages, too.
test.each([
  ['Takk. Dette er et automatisk svar.', 'automatic-reply'],
  ['본 메일은 자동 회신입니다.', 'automatic-reply'],
  ['This mailbox is not monitored. Use the form.', 'automatic-reply'],
  ['Das ist die automatische Antwort, die ich gestern bekam.', null],
  ['To je automat na kávu, odpověď pošlu zítra.', null],
  ['Ini tentang balasan otomatis kita, sudah saya matikan.', null],
  ['This message was encrypted automatically by our gateway.', null],
  ['이 메일은 자동 회신이 아닙니다.', null],
  ['Our office is closed on Friday, your message came just in time. Two boxes please.', null],
] as const)('a reply that says %j is read as %s', async (text, kind) => {
  const report = await read(text, 'From: joe@dest.test\nIn-Reply-To: <one@sender.test>\nSubject: Re: Order\n');
  expect(report?.kind ?? null).toBe(kind);
});
