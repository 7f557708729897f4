/**
 * Mail as mail systems and programs write it, each with what a human reader makes of it. Written before any was read by this code. A third, by
 * a hash of the name, is kept aside: it is counted, never printed.
 */

export interface BounceCase {
  name: string;
  /** the message, line ends as `\n` */
  mail: string;
  kind: 'bounce' | 'delay' | 'delivered' | 'automatic-reply' | 'unknown';
  /** whether its first recipient can receive no mail, ever; null: not asked */
  isHard: boolean | null;
}

export interface ReplyCase {
  name: string;
  text: string;
  /** what the sender wrote now */
  reply: string;
}

export interface CodeCase {
  name: string;
  subject: string;
  text: string;
  /** null: it has none to enter */
  code: string | null;
}

export interface EventCase {
  name: string;
  calendar: string;
  start: string | null;
  end: string | null;
  status?: string;
  summary?: string;
}

export interface ShapeCase {
  name: string;
  mail: string;
  /** of the text body */
  text: string;
  /** names of its attachments */
  files: string[];
}

const bounce = (name: string, from: string, subject: string, body: string): Pick<BounceCase, 'name' | 'mail'> => ({
  name,
  mail: `From: ${from}\nTo: b+x@inbox.test\nSubject: ${subject}\nDate: Mon, 5 Jan 2026 10:00:00 +0000\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\n${body}\n`,
});

const ORIGINAL =
  'Received: from inbox.test by mx.example.com; Mon, 5 Jan 2026 09:59:58 +0000\nFrom: hello@inbox.test\nTo: joe@example.com\nSubject: Your order\nMessage-ID: <1@inbox.test>\n\nThank you for your order.';

export const BOUNCE_CASES: readonly BounceCase[] = [
  {
    ...bounce(
      'qmail',
      'MAILER-DAEMON@mx.example.com',
      'failure notice',
      `Hi. This is the qmail-send program at mx.example.com.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n<joe@example.com>:\nSorry, no mailbox here by that name. (#5.1.1)\n\n--- Below this line is a copy of the message.\n\n${ORIGINAL}`,
    ),
    kind: 'bounce',
    isHard: true,
  },
  {
    ...bounce(
      'netqmail with a remote host',
      'MAILER-DAEMON@relay.example.net',
      'failure notice',
      `Hi. This is the deliver program at relay.example.net.\nYour message could not be delivered to the following address.\n\n<joe@example.com>:\n192.0.2.7 does not like recipient.\nRemote host said: 550 5.2.1 The email account that you tried to reach is inactive\nGiving up on 192.0.2.7.\n\n--- Below this line is a copy of the message.\n\n${ORIGINAL}`,
    ),
    kind: 'bounce',
    isHard: false,
  },
  {
    ...bounce(
      'Exim',
      'Mail Delivery System <Mailer-Daemon@relay.example.net>',
      'Mail delivery failed: returning message to sender',
      `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  joe@example.com\n    host mx.example.com [192.0.2.7]\n    SMTP error from remote mail server after RCPT TO:<joe@example.com>:\n    550 5.1.1 unknown or invalid address\n\n------ This is a copy of the message, including all the headers. ------\n\n${ORIGINAL}`,
    ),
    kind: 'bounce',
    isHard: true,
  },
  {
    ...bounce(
      'Exim retry time',
      'Mail Delivery System <Mailer-Daemon@relay.example.net>',
      'Mail delivery failed: returning message to sender',
      `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. The following address(es) failed:\n\n  joe@example.com\n    retry timeout exceeded\n\n------ This is a copy of the message, including all the headers. ------\n\n${ORIGINAL}`,
    ),
    kind: 'bounce',
    isHard: false,
  },
  {
    ...bounce(
      'Exim warning',
      'Mail Delivery System <Mailer-Daemon@relay.example.net>',
      'Warning: message 1abcde-000001-XX delayed 24 hours',
      `This message was created automatically by mail delivery software.\nA message that you sent has not yet been delivered to one or more of its\nrecipients after more than 24 hours on the queue on relay.example.net.\n\nThe address to which the message has not yet been delivered is:\n\n  joe@example.com\n\nNo action is required on your part. Delivery attempts will continue for\nsome time, and this warning may be repeated at intervals.`,
    ),
    kind: 'delay',
    isHard: null,
  },
  {
    ...bounce(
      'Sendmail transcript',
      'Mail Delivery Subsystem <MAILER-DAEMON@mx.example.com>',
      'Returned mail: see transcript for details',
      `The original message was received at Mon, 5 Jan 2026 09:59:58 GMT\nfrom inbox.test [192.0.2.1]\n\n   ----- The following addresses had permanent fatal errors -----\n<joe@example.com>\n    (reason: 550 5.1.1 <joe@example.com>... User unknown)\n\n   ----- Transcript of session follows -----\n... while talking to mail.example.com.:\n>>> DATA\n<<< 550 5.1.1 <joe@example.com>... User unknown\n550 5.1.1 <joe@example.com>... User unknown\n<<< 503 5.0.0 Need RCPT (recipient)`,
    ),
    kind: 'bounce',
    isHard: true,
  },
  {
    ...bounce(
      'Gmail in Spanish',
      'Mail Delivery Subsystem <mailer-daemon@googlemail.com>',
      'Delivery Status Notification (Failure)',
      `** No se ha encontrado la dirección **\n\nTu mensaje no se ha entregado a joe@example.com porque no se ha encontrado la dirección o esta no puede recibir correo.\n\nLa respuesta fue:\n\n550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address for typos or unnecessary spaces.`,
    ),
    kind: 'bounce',
    isHard: true,
  },
  {
    ...bounce(
      'Microsoft 365 in German',
      'postmaster@example.onmicrosoft.com',
      'Unzustellbar: Your order',
      `Fehler bei der Nachrichtenzustellung an folgende Empfänger oder Gruppen:\n\njoe@example.com (joe@example.com)\nDie eingegebene E-Mail-Adresse konnte nicht gefunden werden. Überprüfen Sie die E-Mail-Adresse des Empfängers, und versuchen Sie, die Nachricht erneut zu senden.\n\nDiagnoseinformationen für Administratoren:\n\nGenerierender Server: AM0PR01.example.outlook.test\n\njoe@example.com\nRemote Server returned '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup'`,
    ),
    kind: 'bounce',
    isHard: true,
  },
  {
    ...bounce(
      'Courier',
      'MAILER-DAEMON@mail.example.com',
      'NOTICE: mail delivery status.',
      `This is a delivery status notification from mail.example.com,\nrunning the Courier mail server, version 1.3.\n\nThe original message was received on Mon, 05 Jan 2026 09:59:58 +0000\nfrom inbox.test (inbox.test [::ffff:192.0.2.1])\n\n---------------------------------------------------------------------------\n\n                           UNDELIVERABLE MAIL\n\nYour message to the following recipients cannot be delivered:\n\n<joe@example.com>:\n     mx.example.com [192.0.2.7]:\n>>> RCPT TO:<joe@example.com>\n<<< 550 User unknown.`,
    ),
    kind: 'bounce',
    isHard: true,
  },
  {
    ...bounce(
      'Lotus Domino',
      'Postmaster@example.com',
      'DELIVERY FAILURE: User joe (joe@example.com) not listed in Domino Directory',
      `Your message\n\n  Subject: Your order\n\nwas not delivered to:\n\n  joe@example.com\n\nbecause:\n\n  User joe (joe@example.com) not listed in Domino Directory`,
    ),
    kind: 'bounce',
    isHard: true,
  },
  {
    ...bounce(
      'GroupWise',
      'postmaster@gw.example.com',
      'Message status - undeliverable',
      `The message that you sent was undeliverable to the following:\n\tjoe (550 mailbox not found)\n\nPossibly truncated original message follows:\n\n${ORIGINAL}`,
    ),
    kind: 'bounce',
    isHard: true,
  },
  {
    ...bounce(
      'MailEnable',
      'Postmaster <postmaster@mail.example.com>',
      'Message Delivery Failure',
      `MailEnable: Message delivery has failed.\n\nMessage could not be delivered to the following recipient(s):\n\n[SMTP:joe@example.com]\n\nReason: The mailbox of the recipient is over its limit and cannot take more messages.\n\nMessage headers follow:\n\nSubject: Your order`,
    ),
    kind: 'bounce',
    isHard: false,
  },
  {
    ...bounce(
      'MDaemon',
      'MDaemon at mail.example.com <MDaemon@mail.example.com>',
      'Permanent Delivery Failure',
      `The attached message had PERMANENT fatal delivery errors!\n\nAfter one or more unsuccessful delivery attempts the attached message has\nbeen removed from the mail queue on this server.\n\nThe following addresses had fatal errors:\n\n    joe@example.com\n\n--------------------------------------------------\nSession Transcript:\n 10:00:01: <-- 250 OK\n 10:00:01: --> RCPT To:<joe@example.com>\n 10:00:01: <-- 550 5.1.1 joe@example.com is not a local mailbox`,
    ),
    kind: 'bounce',
    isHard: true,
  },
  {
    ...bounce(
      'Yahoo relay',
      'MAILER-DAEMON@yahoo.com',
      'Failure Notice',
      `Sorry, we were unable to deliver your message to the following address.\n\n<joe@example.com>:\n554: delivery error: dd This user doesn't have an example.com account (joe@example.com) [0] - mta1001.example.test\n\n--- Below this line is a copy of the message.`,
    ),
    kind: 'bounce',
    isHard: true,
  },
  {
    ...bounce(
      'spam refused at a French host',
      'MAILER-DAEMON@smtp.example.fr',
      'Echec de la remise de votre message',
      `Votre message n'a pas pu être remis au destinataire suivant :\n\n  joe@example.com\n\nLe serveur distant a répondu :\n  554 5.7.1 Votre message a été considéré comme indésirable par notre filtre`,
    ),
    kind: 'bounce',
    isHard: false,
  },
  {
    ...bounce(
      'vacation with a wish to write to others',
      'Ann <ann@example.com>',
      'Automatic reply: Your order',
      `I am out of the office until 12 January and read no mail. In urgent cases write to office@example.com.`,
    ),
    kind: 'automatic-reply',
    isHard: null,
  },
  {
    ...bounce(
      'former employee',
      'joe@example.com',
      'Automatische Antwort: Your order',
      `Guten Tag,\n\nich arbeite seit dem 1. Januar nicht mehr bei der Firma Beispiel. Bitte wenden Sie sich an info@example.com. Ihre Nachricht wird nicht weitergeleitet.`,
    ),
    kind: 'automatic-reply',
    isHard: null,
  },
  {
    ...bounce(
      'a person who asks what failed',
      'Ann <ann@example.com>',
      'Re: Your order',
      `Hi, my last mail to you came back with "550 User unknown". Did you change your address? Best, Ann`,
    ),
    kind: 'unknown',
    isHard: null,
  },
  {
    ...bounce(
      'delivered to a relay',
      'MAILER-DAEMON@relay.example.net (Mail Delivery System)',
      'Successful Mail Delivery Report',
      `This is the mail system at host relay.example.net.\n\nYour message was successfully delivered to the destination(s)\nlisted below. If the message was delivered to mailbox you will\nreceive no further notifications. Otherwise you may still receive\nnotifications of mail delivery errors from other systems.\n\n<joe@example.com>: delivery via mx.example.com[192.0.2.7]:25: 250 2.0.0 Ok: queued as 4ABC`,
    ),
    kind: 'delivered',
    isHard: null,
  },
  {
    ...bounce(
      'host unknown at Postfix',
      'MAILER-DAEMON@relay.example.net (Mail Delivery System)',
      'Undelivered Mail Returned to Sender',
      `This is the mail system at host relay.example.net.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\n                   The mail system\n\n<joe@exmaple.test>: Host or domain name not found. Name service error for\n    name=exmaple.test type=A: Host not found`,
    ),
    kind: 'bounce',
    isHard: true,
  },
];

export const REPLY_CASES: readonly ReplyCase[] = [
  {
    name: 'Gmail in Japanese',
    text: '了解しました。金曜日に伺います。\n\n2026年1月5日(月) 10:00 Hello <hello@inbox.test>:\n\n> 金曜日は空いていますか。\n',
    reply: '了解しました。金曜日に伺います。',
  },
  {
    name: 'Outlook on Android',
    text: 'Works for me.\n\nGet Outlook for Android<https://aka.ms/AAb9ysg>\n________________________________\nFrom: Hello <hello@inbox.test>\nSent: Monday, January 5, 2026 10:00:00 AM\nTo: Ann <ann@example.com>\nSubject: Friday\n\nAre you free on Friday?',
    reply: 'Works for me.',
  },
  {
    name: 'Apple Mail in Dutch',
    text: 'Prima, tot dan.\n\n> Op 5 jan. 2026 om 10:00 heeft Hello <hello@inbox.test> het volgende geschreven:\n> \n> Kun je vrijdag?\n',
    reply: 'Prima, tot dan.',
  },
  {
    name: 'Thunderbird in Czech with an answer below',
    text: 'Dne 5. 1. 2026 v 10:00 Hello napsal(a):\n> Máte čas v pátek?\n\nAno, po desáté.\n',
    reply: 'Ano, po desáté.',
  },
  {
    name: 'answers between the lines',
    text: 'On Mon, Jan 5, 2026 at 10:00 AM Hello <hello@inbox.test> wrote:\n\n> Are you free on Friday?\n\nYes.\n\n> And where?\n\nAt the office.\n',
    reply: 'Yes.\n\nAt the office.',
  },
  {
    name: 'Outlook in Polish',
    text: 'Dziękuję, do zobaczenia.\n\nPozdrawiam\nAnna\n\nOd: Hello <hello@inbox.test>\nWysłano: poniedziałek, 5 stycznia 2026 10:00\nDo: Anna <ann@example.com>\nTemat: Piątek\n\nCzy piątek pasuje?',
    reply: 'Dziękuję, do zobaczenia.\n\nPozdrawiam\nAnna',
  },
  {
    name: 'Zoho',
    text: 'Please go ahead.\n\n\n---- On Mon, 05 Jan 2026 10:00:00 +0000 Hello <hello@inbox.test> wrote ---\n\nShall we start on Friday?',
    reply: 'Please go ahead.',
  },
  {
    name: 'Proton',
    text: 'I agree.\n\nSent with [Proton Mail](https://proton.me/mail/home) secure email.\n\nOn Monday, January 5th, 2026 at 10:00 AM, Hello <hello@inbox.test> wrote:\n\n> Do you agree?\n',
    reply: 'I agree.',
  },
  {
    name: 'Front and a plain divider',
    text: 'Thanks, solved.\n\n--\nAnn Berg\nBerg & Co\n+1 555 0100\n\nOn January 5, 2026 at 10:00 AM UTC, hello@inbox.test wrote:\n\nDid it help?',
    reply: 'Thanks, solved.',
  },
  {
    name: 'Samsung in Italian',
    text: 'Va bene.\n\nInviato dal mio Galaxy\n\n-------- Messaggio originale --------\nDa: Hello <hello@inbox.test>\nData: 05/01/26 10:00 (GMT+01:00)\nA: ann@example.com\nOggetto: Venerdì\n\nVenerdì va bene?',
    reply: 'Va bene.',
  },
  {
    name: 'QQ Mail',
    text: '好的，周五见。\n\n\n------------------ 原始邮件 ------------------\n发件人: "Hello" <hello@inbox.test>;\n发送时间: 2026年1月5日(星期一) 上午10:00\n收件人: "Ann"<ann@example.com>;\n主题: 周五\n\n周五有空吗？',
    reply: '好的，周五见。',
  },
  {
    name: 'Naver',
    text: '네, 금요일에 뵙겠습니다.\n\n-----Original Message-----\nFrom: "Hello"<hello@inbox.test>\nTo: "Ann"<ann@example.com>;\nCc:\nSent: 2026-01-05 (월) 10:00:00 (GMT+09:00)\nSubject: 금요일\n\n금요일에 시간 있으세요?',
    reply: '네, 금요일에 뵙겠습니다.',
  },
  {
    name: 'a letter with a wish about what somebody wrote',
    text: 'Hi,\n\nlast week Ann wrote:\n\nplease send the keys to the neighbor.\n\nHas anyone done so?\n\nTom',
    reply: 'Hi,\n\nlast week Ann wrote:\n\nplease send the keys to the neighbor.\n\nHas anyone done so?\n\nTom',
  },
  {
    name: 'a form with fields like a header block',
    text: 'New booking\n\nFrom: Lisbon\nTo: Porto\nDate: 5 January 2026\nSeats: 2\n\nPlease confirm.',
    reply: 'New booking\n\nFrom: Lisbon\nTo: Porto\nDate: 5 January 2026\nSeats: 2\n\nPlease confirm.',
  },
  {
    name: 'Help desk in Portuguese',
    text: 'Já funciona, obrigada!\n\n##- Por favor, escreva a sua resposta acima desta linha -##\n\nO seu pedido (4471) foi atualizado.\n\nHello, 5 de jan. de 2026 10:00\n\nFuncionou?',
    reply: 'Já funciona, obrigada!',
  },
  {
    name: 'Roundcube in Swedish',
    text: 'Hello skrev den 2026-01-05 10:00:\n> Passar fredag?\n\nJa, efter tio.\n\n-- \nAnn',
    reply: 'Ja, efter tio.',
  },
];

export const CODE_CASES: readonly CodeCase[] = [
  {
    name: 'spaced digits',
    subject: 'Sign in',
    text: 'Your one-time passcode is 448 120. It expires in 10 minutes.',
    code: '448120',
  },
  {
    name: 'letters in groups',
    subject: 'Confirm your device',
    text: 'Enter this code to continue:\n\nWDJB-MJHT\n\nIf this was not you, change your password.',
    code: 'WDJB-MJHT',
  },
  {
    name: 'in Polish',
    subject: 'Kod weryfikacyjny',
    text: 'Twój kod weryfikacyjny to: 90412. Nie udostępniaj go nikomu.',
    code: '90412',
  },
  { name: 'in Turkish', subject: 'Giriş', text: 'Doğrulama kodunuz: 771204. Kod 5 dakika geçerlidir.', code: '771204' },
  {
    name: 'an order number beside it',
    subject: 'Order 4471203',
    text: 'Order 4471203 is on its way. To open the locker, enter the pickup code 5582.',
    code: '5582',
  },
  {
    name: 'an invoice number alone',
    subject: 'Invoice 20261204',
    text: 'Invoice 20261204 over 1,240.00 EUR is due on 3 May. Customer 448120.',
    code: null,
  },
  {
    name: 'a discount',
    subject: 'Spring sale',
    text: 'Use the code SPRING20 at the checkout and save 20 % until Sunday.',
    code: null,
  },
  { name: 'in Hebrew', subject: 'קוד אימות', text: 'קוד האימות שלך הוא 331905 והוא בתוקף לעשר דקות.', code: '331905' },
  {
    name: 'a telephone number',
    subject: 'Call us',
    text: 'To verify your account, please call 0800 448120 between nine and five.',
    code: null,
  },
  {
    name: 'in Vietnamese',
    subject: 'Mã xác minh',
    text: 'Mã xác minh của bạn là 204881. Không chia sẻ mã này.',
    code: '204881',
  },
];

const calendar = (lines: string) =>
  `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:1@example.com\r\n${lines}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`;

export const EVENT_CASES: readonly EventCase[] = [
  {
    name: 'Google, UTC',
    calendar: calendar('DTSTART:20260105T090000Z\r\nDTEND:20260105T093000Z\r\nSUMMARY:Standup\r\nSTATUS:CONFIRMED'),
    start: '2026-01-05T09:00:00.000Z',
    end: '2026-01-05T09:30:00.000Z',
    status: 'confirmed',
    summary: 'Standup',
  },
  {
    name: 'Outlook with a name of Windows',
    calendar: calendar(
      'DTSTART;TZID=W. Europe Standard Time:20260706T100000\r\nDTEND;TZID=W. Europe Standard Time:20260706T110000\r\nSUMMARY;LANGUAGE=de-DE:Besprechung',
    ),
    start: '2026-07-06T08:00:00.000Z',
    end: '2026-07-06T09:00:00.000Z',
    summary: 'Besprechung',
  },
  {
    name: 'all day with a duration',
    calendar: calendar('DTSTART;VALUE=DATE:20260501\r\nDURATION:P2D\r\nSUMMARY:Fair'),
    start: '2026-05-01',
    end: '2026-05-03',
    summary: 'Fair',
  },
  {
    name: 'folded and escaped',
    calendar: calendar(
      'DTSTART:20260105T090000Z\r\nDURATION:PT1H30M\r\nSUMMARY:Lunch\\, then a wa\r\n lk\\; bring shoes',
    ),
    start: '2026-01-05T09:00:00.000Z',
    end: '2026-01-05T10:30:00.000Z',
    summary: 'Lunch, then a walk; bring shoes',
  },
  {
    name: 'a canceled one with a prefixed zone',
    calendar: calendar(
      'DTSTART;TZID=/freeassociation.sourceforge.net/Europe/Lisbon:20260105T090000\r\nDTEND;TZID=/freeassociation.sourceforge.net/Europe/Lisbon:20260105T100000\r\nSTATUS:CANCELLED\r\nSUMMARY:Call',
    ),
    start: '2026-01-05T09:00:00.000Z',
    end: '2026-01-05T10:00:00.000Z',
    status: 'cancelled',
  },
  {
    name: 'line feeds only and lower case',
    calendar:
      'begin:vcalendar\nversion:2.0\nbegin:vevent\nuid:2@example.com\ndtstart;tzid=America/New_York:20260105T090000\nsummary:Call\nend:vevent\nend:vcalendar\n',
    start: '2026-01-05T14:00:00.000Z',
    end: null,
    summary: 'Call',
  },
];

const HEAD =
  'From: Ann <ann@example.com>\nTo: hello@inbox.test\nSubject: Hi\nDate: Mon, 5 Jan 2026 10:00:00 +0000\nMIME-Version: 1.0\n';

export const SHAPE_CASES: readonly ShapeCase[] = [
  {
    name: 'a boundary with spaces at its end',
    mail: `${HEAD}Content-Type: multipart/mixed; boundary="b b "\n\n--b b \nContent-Type: text/plain\n\nHello\n--b b \nContent-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\nJVBERi0=\n--b b --\n`,
    text: 'Hello',
    files: ['a.pdf'],
  },
  {
    name: 'a name in two continued parts',
    mail: `${HEAD}Content-Type: multipart/mixed; boundary=q\n\n--q\nContent-Type: text/plain\n\nSee file\n--q\nContent-Type: application/octet-stream\nContent-Disposition: attachment; filename*0*=UTF-8''%C3%BCber;\n filename*1="sicht.txt"\nContent-Transfer-Encoding: base64\n\nSGk=\n--q--\n`,
    text: 'See file',
    files: ['übersicht.txt'],
  },
  {
    name: 'an encoded word as a name',
    mail: `${HEAD}Content-Type: multipart/mixed; boundary=q\n\n--q\nContent-Type: text/plain\n\nSee file\n--q\nContent-Type: application/pdf; name="=?utf-8?B?w7xiZXIucGRm?="\nContent-Disposition: attachment; filename="=?utf-8?B?w7xiZXIucGRm?="\nContent-Transfer-Encoding: base64\n\nJVBERi0=\n--q--\n`,
    text: 'See file',
    files: ['über.pdf'],
  },
  {
    name: 'a signed mail of a list with a footer',
    mail: `${HEAD}Content-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: multipart/signed; boundary=s; protocol="application/pgp-signature"; micalg=pgp-sha256\n\n--s\nContent-Type: text/plain\n\nSigned text\n--s\nContent-Type: application/pgp-signature; name=signature.asc\n\n-----BEGIN PGP SIGNATURE-----\nabc\n-----END PGP SIGNATURE-----\n--s--\n\n--o\nContent-Type: text/plain\nContent-Disposition: inline\n\n_____\nList footer\n--o--\n`,
    text: 'Signed text\n_____\nList footer',
    files: ['signature.asc'],
  },
  {
    name: 'soft line breaks with spaces behind',
    mail: `${HEAD}Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nA long line that goes =  \non here.\n`,
    text: 'A long line that goes on here.',
    files: [],
  },
  {
    name: 'UTF-8 that is called US-ASCII',
    mail: `${HEAD}Content-Type: text/plain; charset=us-ascii\nContent-Transfer-Encoding: 8bit\n\nGrüße aus Köln\n`,
    text: 'Grüße aus Köln',
    files: [],
  },
  {
    name: 'no blank line before the first part',
    mail: `${HEAD}Content-Type: multipart/mixed; boundary=q\n\n--q\nContent-Type: text/plain\n\nFirst\n--q\nContent-Type: text/plain; name=notes.txt\nContent-Disposition: attachment\n\nNotes\n--q--\n`,
    text: 'First',
    files: ['notes.txt'],
  },
  {
    name: 'two text parts around a picture',
    mail: `${HEAD}Content-Type: multipart/mixed; boundary=q\n\n--q\nContent-Type: text/plain\n\nBefore\n--q\nContent-Type: image/png; name=p.png\nContent-Disposition: inline; filename=p.png\nContent-Transfer-Encoding: base64\n\niVBORw0=\n--q\nContent-Type: text/plain\n\nBehind\n--q--\n`,
    text: 'Before\nBehind',
    files: ['p.png'],
  },
];
