import { type BounceCase, dsn, plain, withOriginal } from './bounce-case.ts';

const QMAIL = `Hi. This is the qmail-send program at mx.dest.test.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.
`;
const QMAIL_ENVELOPE = { subject: 'failure notice' };
const EXIM = `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:
`;
const EXIM_ENVELOPE = {
  from: 'Mail Delivery System <Mailer-Daemon@mx.dest.test>',
  subject: 'Mail delivery failed: returning message to sender',
};
const POSTFIX = `This is the mail system at host mx.dest.test.

I'm sorry to have to inform you that your message could not
be delivered to one or more recipients. It's attached below.

For further assistance, please send mail to postmaster.
`;

/** Further reports of Sendmail, qmail, Postfix, Exim, Courier and their patches. */
export const UNIX_SERVERS: readonly BounceCase[] = [
  plain(
    'Sendmail 8.12',
    'hard',
    `The original message was received at Thu, 3 Feb 2005 10:11:12 +0100
from localhost [127.0.0.1]

   ----- The following addresses had permanent fatal errors -----
<joe@dest.test>
    (reason: 550 5.1.1 <joe@dest.test>... User unknown)

   ----- Transcript of session follows -----
... while talking to mx.dest.test.:
>>> DATA
<<< 550 5.1.1 <joe@dest.test>... User unknown
550 5.1.1 <joe@dest.test>... User unknown
<<< 503 5.0.0 Need RCPT (recipient)`,
    { subject: 'Returned mail: see transcript for details' },
  ),
  plain(
    'Sendmail 8.13',
    'hard',
    `   ----- The following addresses had permanent fatal errors -----
<joe@dest.test>
    (reason: 550 Host unknown)

   ----- Transcript of session follows -----
550 5.1.2 <joe@dest.test>... Host unknown (Name server: dest.test: host not found)`,
    { subject: 'Returned mail: see transcript for details' },
  ),
  plain(
    'Sendmail 8.9',
    'soft',
    `   ----- The following addresses had permanent fatal errors -----
<joe@dest.test>

   ----- Transcript of session follows -----
553 dest.test. config error: mail loops back to me (MX problem?)
554 <joe@dest.test>... Local configuration error`,
    { subject: 'Returned mail: Local configuration error' },
  ),
  plain(
    'Sendmail 8.8',
    'hard',
    `   ----- The following addresses had permanent fatal errors -----
joe@dest.test

   ----- Transcript of session follows -----
... while talking to mx.dest.test.:
>>> RCPT To:<joe@dest.test>
<<< 551 User not local; please try <joe@new.test>
551 joe@dest.test... User not local; please try <joe@new.test>`,
    { subject: 'Returned mail: User unknown' },
  ),
  plain(
    'Sendmail 8.14',
    'soft',
    `   ----- The following addresses had permanent fatal errors -----
<joe@dest.test>
    (reason: Can't create output)

   ----- Transcript of session follows -----
procmail: Quota exceeded while writing "/var/spool/mail/joe"
550 5.0.0 <joe@dest.test>... Can't create output`,
    { subject: 'Returned mail: see transcript for details' },
  ),
  plain(
    'Sendmail 8.14',
    'delay',
    `    **********************************************
    **      THIS IS A WARNING MESSAGE ONLY      **
    **  YOU DO NOT NEED TO RESEND YOUR MESSAGE  **
    **********************************************

   ----- The following addresses had transient non-fatal errors -----
<joe@dest.test>

   ----- Transcript of session follows -----
451 4.4.1 reply: read error from mx.dest.test.
Warning: message still undelivered after 4 hours
Will keep trying until message is 5 days old`,
    { subject: 'Warning: could not send message for past 4 hours' },
  ),
  plain(
    'Sendmail 8.14',
    'soft',
    `   ----- The following addresses had permanent fatal errors -----
<joe@dest.test>

   ----- Transcript of session follows -----
<joe@dest.test>... Deferred: Connection timed out with mx.dest.test.
Message could not be delivered for 5 days
Message will be deleted from queue`,
    { subject: 'Returned mail: Cannot send message for 5 days' },
  ),
  plain(
    'Sendmail 8.11, mail.local',
    'hard',
    `   ----- The following addresses had permanent fatal errors -----
<joe@dest.test>
    (reason: 550 5.1.1 unknown name: joe)

   ----- Transcript of session follows -----
... while talking to localhost:
>>> RCPT To:<joe>
<<< 550 5.1.1 unknown name: joe
550 5.1.1 <joe@dest.test>... User unknown`,
    { subject: 'Returned mail: see transcript for details' },
  ),
  plain(
    'Sendmail, smrsh',
    'soft',
    `   ----- The following addresses had permanent fatal errors -----
"|/home/joe/bin/filter"
    (reason: 69)
    (expanded from: <joe@dest.test>)

   ----- Transcript of session follows -----
smrsh: "filter" not available for sendmail programs (stat failed)
554 5.0.0 Service unavailable`,
    { subject: 'Returned mail: see transcript for details' },
  ),
  plain(
    'Sendmail of Solaris',
    'hard',
    `   ----- Transcript of session follows -----
550 dest.test (tcp)... 550 Host unknown
550 joe@dest.test... Host unknown: Not a typewriter

   ----- Unsent message follows -----
From: Us <us@sender.test>`,
    { subject: 'Returned mail: Host unknown' },
  ),
  plain(
    'qmail',
    'hard',
    `${QMAIL}
<joe@dest.test>:
192.0.2.1 does not like recipient.
Remote host said: 550 5.1.1 unknown or illegal alias: joe@dest.test
Giving up on 192.0.2.1.`,
    QMAIL_ENVELOPE,
  ),
  plain(
    'qmail',
    'hard',
    `${QMAIL}
<joe@dest.test>:
Sorry, I couldn't find a mail exchanger or IP address. (#5.4.4)`,
    QMAIL_ENVELOPE,
  ),
  plain(
    'qmail',
    'soft',
    `${QMAIL}
<joe@dest.test>:
CNAME lookup failed temporarily. (#4.4.3)
I'm not going to try again; this message has been in the queue too long.`,
    QMAIL_ENVELOPE,
  ),
  plain(
    'qmail',
    'soft',
    `${QMAIL}
<joe@dest.test>:
This message is looping: it already has my Delivered-To line. (#5.4.6)`,
    QMAIL_ENVELOPE,
  ),
  plain(
    'qmail',
    'hard',
    `${QMAIL}
<joe@dest.test>:
Connected to 192.0.2.1 but recipient was rejected.
Remote host said: 550-Mailbox unknown.  Either there is no mailbox associated with this
550-name or you do not have authorization to see it.
550 5.1.1 User unknown`,
    QMAIL_ENVELOPE,
  ),
  plain(
    'qmail',
    'soft',
    `${QMAIL}
<joe@dest.test>:
Connected to 192.0.2.1 but sender was rejected.
Remote host said: 550 5.7.1 <bounce@sender.test>... Access denied`,
    QMAIL_ENVELOPE,
  ),
  plain(
    'qmail, vpopmail',
    'soft',
    `${QMAIL}
<joe@dest.test>:
user is over quota`,
    QMAIL_ENVELOPE,
  ),
  plain(
    'qmail, vpopmail',
    'hard',
    `${QMAIL}
<joe@dest.test>:
vdelivermail: sorry, this user does not exist here. (#5.1.1)`,
    QMAIL_ENVELOPE,
  ),
  plain(
    'qmail, Plesk',
    'hard',
    `${QMAIL}
<joe@dest.test>:
This address no longer accepts mail.`,
    QMAIL_ENVELOPE,
  ),
  plain(
    'qmail-ldap',
    'hard',
    `${QMAIL}
<joe@dest.test>:
Sorry, no mailbox here by that name. (#5.1.1, LDAP)`,
    QMAIL_ENVELOPE,
  ),
  plain(
    'qmail-ldap',
    'soft',
    `${QMAIL}
<joe@dest.test>:
The user's mailbox is over the allowed quota (size). (#5.2.2)`,
    QMAIL_ENVELOPE,
  ),
  plain(
    'qmail, German',
    'hard',
    `Hallo. Hier ist das qmail-send Programm auf mx.dest.test.
Leider konnte ich Ihre Nachricht nicht an die folgende Adresse zustellen.
Dies ist ein permanenter Fehler; ich gebe auf.

<joe@dest.test>:
Unter diesem Namen gibt es hier kein Postfach. (#5.1.1)`,
    QMAIL_ENVELOPE,
  ),
  withOriginal(
    'Postfix without a status part',
    'hard',
    `${POSTFIX}
                   The mail system

<joe@dest.test>: unknown user: "joe"`,
  ),
  withOriginal(
    'Postfix without a status part',
    'hard',
    `${POSTFIX}
                   The mail system

<joe@dest.test>: Host or domain name not found. Name service error for
    name=dest.test type=AAAA: Host not found`,
  ),
  withOriginal(
    'Postfix without a status part',
    'hard',
    `${POSTFIX}
                   The mail system

<joe@dest.test>: Domain dest.test does not accept mail (nullMX)`,
  ),
  withOriginal(
    'Postfix without a status part',
    'soft',
    `${POSTFIX}
                   The mail system

<joe@dest.test>: temporary failure. Command output: maildrop: maildir over quota.`,
  ),
  withOriginal(
    'Postfix without a status part',
    'hard',
    `${POSTFIX}
                   The mail system

<joe@dest.test>: bad address syntax`,
  ),
  plain(
    'Postfix with a German template',
    'hard',
    `Dies ist das Mailsystem auf dem Rechner mx.dest.test.

Es tut mir leid, Ihnen mitteilen zu müssen, dass Ihre Nachricht an einen
oder mehrere Empfänger nicht zugestellt werden konnte.

                   Das Mailsystem

<joe@dest.test>: host mx.dest.test[192.0.2.1] said: 550 Unbekannter Benutzer (in
    reply to RCPT TO command)`,
    { subject: 'Unzustellbare Nachricht zurück an Absender' },
  ),
  plain(
    'Postfix with a Polish template',
    'hard',
    `To jest system pocztowy na serwerze mx.dest.test.

Z przykrością zawiadamiamy, że Państwa wiadomość nie mogła zostać dostarczona.

<joe@dest.test>: host mx.dest.test[192.0.2.1] said: 550 5.1.1 Nie ma takiego
    konta (in reply to RCPT TO command)`,
    { subject: 'Niedostarczona wiadomość zwrócona do nadawcy' },
  ),
  plain(
    'Postfix with a Japanese template',
    'hard',
    `こちらは mx.dest.test のメールシステムです。

あなたのメッセージを以下の宛先に届けることができませんでした。

<joe@dest.test>: host mx.dest.test[192.0.2.1] said: 550 5.1.1 <joe@dest.test>:
    Recipient address rejected: User unknown in virtual mailbox table (in reply to RCPT TO command)`,
    { subject: '配送不能メールを差出人に返送します' },
  ),
  plain(
    'Exim',
    'hard',
    `${EXIM}
  joe@dest.test
    unknown local-part "joe" in domain "dest.test"`,
    EXIM_ENVELOPE,
  ),
  plain(
    'Exim',
    'soft',
    `${EXIM}
  joe@dest.test
    mailbox is full (MTA-imposed quota exceeded while writing to file /home/dest/mail/joe/new/1)`,
    EXIM_ENVELOPE,
  ),
  plain(
    'Exim',
    'soft',
    `${EXIM}
  joe@dest.test
    host mx.dest.test [192.0.2.1]
    retry timeout exceeded`,
    EXIM_ENVELOPE,
  ),
  plain(
    'Exim',
    'hard',
    `${EXIM}
  joe@dest.test
    No Such User Here`,
    EXIM_ENVELOPE,
  ),
  plain(
    'Exim, cPanel',
    'soft',
    `${EXIM}
  joe@dest.test
    Domain sender.test has exceeded the max defers and failures per hour (5/5 (100%)) allowed. Message discarded.`,
    EXIM_ENVELOPE,
  ),
  plain(
    'Exim German',
    'hard',
    `Diese Nachricht wurde automatisch von der Mail-Software erzeugt.

Eine von Ihnen gesendete Nachricht konnte an einen oder mehrere Empfänger
nicht zugestellt werden. Dies ist ein dauerhafter Fehler. Folgende Adressen:

  joe@dest.test
    Diese Adresse ist auf diesem Server nicht bekannt`,
    { ...EXIM_ENVELOPE, subject: 'Mail konnte nicht zugestellt werden' },
  ),
  plain(
    'Exim Russian',
    'hard',
    `Это письмо создано автоматически программой доставки почты.

Сообщение, которое вы отправили, не может быть доставлено одному или
нескольким получателям. Это постоянная ошибка. Адреса:

  joe@dest.test
    нет такого почтового ящика`,
    { ...EXIM_ENVELOPE, subject: 'Ошибка доставки: сообщение возвращено отправителю' },
  ),
  plain(
    'Exim',
    'delay',
    `This message was created automatically by mail delivery software.
A message that you sent has not yet been delivered to one or more of its
recipients after more than 24 hours on the queue on mx.dest.test.

The address to which the message has not yet been delivered is:

  joe@dest.test
    Delay reason: SMTP error from remote mail server after RCPT TO:<joe@dest.test>: 451 Temporarily unavailable

No action is required on your part. Delivery attempts will continue for
some time, and this warning may be repeated at intervals if the message
remains undelivered.`,
    { ...EXIM_ENVELOPE, subject: 'Warning: message 1abc delayed 24 hours' },
  ),
  plain(
    'Courier',
    'hard',
    `This is a delivery status notification from mx.dest.test,
running the Courier mail server, version 0.73.

The original message was received on Thu, 3 Feb 2005 10:11:12 +0100

---------------------------------------------------------------------------

                           UNDELIVERABLE MAIL

Your message to the following recipients cannot be delivered:

<joe@dest.test>:
    mx.dest.test [192.0.2.1]:
>>> RCPT TO:<joe@dest.test>
<<< 550 User <joe@dest.test> unknown`,
    { subject: 'NOTICE: mail delivery status.' },
  ),
  plain(
    'Courier',
    'delay',
    `                               DELAYED MAIL

                     THIS IS A WARNING MESSAGE ONLY.
                     YOU DO NOT NEED TO RESEND YOUR MESSAGE.

The following recipients have not received your message yet:

<joe@dest.test>:
    DNS lookup failure.`,
    { subject: 'WARNING: mail delayed.' },
  ),
  plain(
    'Courier',
    'soft',
    `Your message to the following recipients cannot be delivered:

<joe@dest.test>:
    maildrop: maildir over quota.`,
    { subject: 'NOTICE: mail delivery status.' },
  ),
  dsn('Postfix', 'soft', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nOriginal-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 4.4.1\nDiagnostic-Code: X-Postfix; connect to mx.dest.test[192.0.2.1]:25: Connection timed out',
  }),
  dsn('Postfix', 'hard', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: X-Postfix; unknown user: "joe"',
  }),
  dsn('Postfix', 'soft', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.4.6\nDiagnostic-Code: X-Postfix; mail for dest.test loops back to myself',
  }),
  dsn('Sendmail', 'hard', {
    fields:
      'Final-Recipient: RFC822; joe@dest.test\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: X-Unix; 67\nLast-Attempt-Date: Thu, 3 Feb 2005 10:11:12 +0100',
  }),
  dsn('OpenSMTPD', 'hard', {
    text: 'Hi!\n\nThis is the MAILER-DAEMON, please DO NOT REPLY to this email.\n\nAn error has occurred while attempting to deliver a message for\nthe following list of recipients:\n\njoe@dest.test: Invalid recipient: joe',
    fields: 'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0',
  }),
  plain(
    'DragonFly',
    'hard',
    `This is the DragonFly Mail Agent v0.13 at mx.dest.test.

There was an error delivering your mail to <joe@dest.test>.

unknown user

Message headers follow below.

Received: from us`,
    { subject: 'Mail delivery failed' },
  ),
  plain(
    'msmtp and nullmailer',
    'hard',
    `This is a message from the nullmailer at mx.dest.test.

Your message has not been delivered to the following recipients:

<joe@dest.test>: smtp: Failed: 550 5.1.1 <joe@dest.test>: Recipient address rejected: User doesn't exist`,
    { subject: 'Returned mail: Could not send message' },
  ),
  plain(
    'fetchmail',
    'hard',
    `Some addresses were rejected by the MDA fetchmail forwards to.

--b
joe@dest.test's mail was refused: unknown recipient`,
    { from: 'FETCHMAIL-DAEMON@mx.dest.test', subject: 'mail delivery failed' },
  ),
];
