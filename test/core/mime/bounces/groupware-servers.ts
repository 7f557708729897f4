import { type BounceCase, dsn, html, plain, withOriginal } from './bounce-case.ts';

/** Further reports of Domino, GroupWise and of mail servers for Windows and appliances. */
export const GROUPWARE_SERVERS: readonly BounceCase[] = [
  plain(
    'Domino Spanish',
    'hard',
    `Informe de error de entrega

Su documento: Factura 4711
no se entregó a: joe@dest.test
debido a: El usuario joe (joe@dest.test) no figura en el Directorio de Domino`,
    { from: 'Postmaster@dest.test', subject: 'ERROR DE ENTREGA: El usuario joe no figura en el Directorio de Domino' },
  ),
  plain(
    'Domino Italian',
    'hard',
    `Rapporto di mancata consegna

Il documento: Fattura 4711
non è stato consegnato a: joe@dest.test
perché: L'utente joe (joe@dest.test) non è elencato nella Rubrica di Domino`,
    { from: 'Postmaster@dest.test', subject: "MANCATA CONSEGNA: L'utente joe non è elencato nella Rubrica di Domino" },
  ),
  plain(
    'Domino Portuguese',
    'hard',
    `Relatório de falha na entrega

Seu documento: Fatura 4711
não foi entregue para: joe@dest.test
porque: O usuário joe (joe@dest.test) não está listado no Diretório Domino`,
    { from: 'Postmaster@dest.test', subject: 'FALHA NA ENTREGA: O usuário joe não está listado' },
  ),
  plain(
    'Domino Japanese',
    'hard',
    `配信障害レポート

文書: 請求書
次の宛先に配信できませんでした: joe@dest.test
理由: ユーザー joe (joe@dest.test) は Domino ディレクトリにリストされていません`,
    { from: 'Postmaster@dest.test', subject: '配信障害: ユーザーは Domino ディレクトリにリストされていません' },
  ),
  plain(
    'Domino',
    'soft',
    `Delivery Failure Report

Your document: Invoice 4711
was not delivered to: joe@dest.test
because: Recipient user name joe not unique.  Several matches found in Domino Directory.`,
    { from: 'Postmaster@dest.test', subject: 'DELIVERY FAILURE: Recipient user name joe not unique.' },
  ),
  plain(
    'Domino',
    'soft',
    `Delivery Failure Report

Your document: Invoice 4711
was not delivered to: joe@dest.test
because: Error transferring to MX.DEST.TEST; Maximum hop count exceeded.  Message probably in a routing loop.`,
    { from: 'Postmaster@dest.test', subject: 'DELIVERY FAILURE: Maximum hop count exceeded.' },
  ),
  dsn(
    'Domino',
    'hard',
    {
      fields:
        'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: X-Notes; User joe (joe@dest.test) not listed in public Name & Address Book',
    },
    { from: 'Postmaster@dest.test', subject: 'DELIVERY FAILURE: User joe not listed in public Name & Address Book' },
  ),
  dsn(
    'Domino',
    'hard',
    {
      fields:
        'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: X-Notes; Host name dest.test not found. Domain lookup failed.',
    },
    { from: 'Postmaster@dest.test', subject: 'DELIVERY FAILURE: Host name not found' },
  ),
  plain(
    'GroupWise',
    'hard',
    `The message that you sent was undeliverable to the following:
\tjoe@dest.test (D101 unknown user)

Possibly truncated original message follows:`,
    { from: 'Mailer-Daemon@dest.test', subject: 'Message status - undeliverable' },
  ),
  plain(
    'GroupWise',
    'hard',
    `The attached file had the following undeliverable recipient(s):
\tjoe@dest.test

Transcript of session follows:
Command: RCPT TO:<joe@dest.test>
Response: 550 Username unknown`,
    { from: 'Mailer-Daemon@dest.test', subject: 'Mail System Error - Returned Mail' },
  ),
  plain(
    'GroupWise German',
    'hard',
    `Die von Ihnen gesendete Nachricht konnte folgenden Empfängern nicht zugestellt werden:
\tjoe@dest.test (Benutzer nicht gefunden)`,
    { from: 'Mailer-Daemon@dest.test', subject: 'Nachrichtenstatus - Nicht zustellbar' },
  ),
  plain(
    'GroupWise',
    'soft',
    `The message that you sent was undeliverable to the following:
\tjoe@dest.test (mailbox full)`,
    { from: 'Mailer-Daemon@dest.test', subject: 'Message status - undeliverable' },
  ),
  plain(
    'MDaemon',
    'hard',
    `The attached message had PERMANENT fatal delivery errors!

After one or more unsuccessful delivery attempts the attached message has
been removed from the mail queue on this server.

Reason(s) for failure:
RCPT To:<joe@dest.test> - 550 <joe@dest.test>, Recipient unknown`,
    { from: 'MDaemon@dest.test', subject: 'Permanent Delivery Failure' },
  ),
  plain(
    'MDaemon',
    'delay',
    `The attached message had TRANSIENT non-fatal delivery errors!

The attached message has met with delivery problems on its initial attempt.
Delivery attempts will continue for 60 minutes.

Session Transcript:
<-- 451 Greylisted, please try again in 300 seconds`,
    { from: 'MDaemon@dest.test', subject: 'Warning: Message delivery delayed' },
  ),
  plain(
    'MDaemon German',
    'hard',
    `Die angehängte Nachricht konnte nicht zugestellt werden. Es traten PERMANENTE Zustellfehler auf.

Gründe:
RCPT To:<joe@dest.test> - 550 Empfänger unbekannt`,
    { from: 'MDaemon@dest.test', subject: 'Endgültiger Zustellungsfehler' },
  ),
  plain(
    'hMailServer',
    'hard',
    `Your message did not reach some or all of the intended recipients.

   Sent: Thu, 3 Feb 2011 10:11:12 +0100
   Subject: Invoice 4711

The following recipient(s) could not be reached:

joe@dest.test
   Error Type: SMTP
   Remote server (192.0.2.1) issued an error.
   hMailServer sent: RCPT TO:<joe@dest.test>
   Remote server replied: 550 Unknown user

hMailServer`,
    { from: 'mailer-daemon@mx.dest.test', subject: 'Message undeliverable: Invoice 4711' },
  ),
  plain(
    'hMailServer',
    'soft',
    `Your message did not reach some or all of the intended recipients.

The following recipient(s) could not be reached:

joe@dest.test
   Error Type: SMTP
   Error Description: Could not connect to the remote server mx.dest.test.
   Additional information: Please try to send the message again later.

hMailServer`,
    { from: 'mailer-daemon@mx.dest.test', subject: 'Message undeliverable: Invoice 4711' },
  ),
  plain(
    'hMailServer',
    'hard',
    `The following recipient(s) could not be reached:

joe@dest.test
   Error Type: DNS
   Error Description: The domain name in the recipients address does not exist.

hMailServer`,
    { from: 'mailer-daemon@mx.dest.test', subject: 'Message undeliverable: Invoice 4711' },
  ),
  plain(
    'Merak',
    'hard',
    `The attached message has PERMANENT delivery errors.

This message was not delivered to the following recipients:

Recipient: <joe@dest.test>
Reason: 5.1.1 Message rejected: the recipient mailbox name could not be located`,
    { from: 'Merak Mail Server <postmaster@dest.test>', subject: 'Undeliverable mail' },
  ),
  plain(
    'IceWarp',
    'hard',
    `Your message was not delivered to the following recipient:

joe@dest.test

Reason: SMTP error: 550 5.1.1 <joe@dest.test> User unknown; rejecting

The message headers are attached.`,
    { from: 'postmaster@dest.test', subject: 'Delivery failed: Invoice 4711' },
  ),
  plain(
    'Kerio Connect',
    'hard',
    `This is an automatically generated Delivery Status Notification.

Delivery to the following recipients failed:

joe@dest.test (550 5.1.1 User doesn't exist here)`,
    { from: 'postmaster@dest.test', subject: 'Delivery Status Notification (failure)' },
  ),
  plain(
    'Kerio MailServer',
    'delay',
    `Your message could not be delivered yet. Delivery will be retried for 2 days.

  To: joe@dest.test
  Last error: Connection timed out`,
    { from: 'postmaster@dest.test', subject: 'Delivery Status Notification (delay)' },
  ),
  plain(
    'ArGoSoft',
    'hard',
    `Your message was not delivered to the following recipients:

joe@dest.test

Server response: 550 No such user here`,
    { from: 'postmaster@dest.test', subject: 'Undelivered mail' },
  ),
  plain(
    'CommuniGate Pro',
    'hard',
    `Failed to deliver to '<joe@dest.test>'
LOCAL module(account joe) reports:
 unknown user account`,
    { from: 'MAILER-DAEMON@dest.test', subject: 'Undeliverable mail: Invoice 4711' },
  ),
  plain(
    'CommuniGate Pro',
    'hard',
    `Failed to deliver to 'joe@dest.test'
SMTP module(domain dest.test) reports:
 host name is unknown`,
    { from: 'MAILER-DAEMON@dest.test', subject: 'Undeliverable mail: Invoice 4711' },
  ),
  plain(
    'PowerMTA without a status part',
    'hard',
    `Hello,

This is the mail server on mx.dest.test.

I am sending you this message to inform you on the delivery status of a
message you previously sent.  Immediately below you will find a list of
the affected recipients;  also attached is a Delivery Status Notification
(DSN) report in standard format, as well as the headers of the original
message.

  <joe@dest.test>  delivery failed; will not continue trying

  dest.test: 550 unknown mailbox joe`,
    { from: 'mailer-daemon@mx.dest.test', subject: 'Delivery report' },
  ),
  plain(
    'PowerMTA without a status part',
    'hard',
    `This is the mail server on mx.dest.test.

  <joe@dest.test>  delivery failed; will not continue trying

  Reason: domain does not exist: dest.test`,
    { from: 'mailer-daemon@mx.dest.test', subject: 'Delivery report' },
  ),
  dsn('PowerMTA', 'soft', {
    fields:
      'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 4.4.7 (delivery time expired)\nDiagnostic-Code: smtp;421 4.7.0 [TSS04] Messages from 192.0.2.9 temporarily deferred due to unexpected volume or user complaints',
  }),
  dsn('PowerMTA', 'hard', {
    fields:
      'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.1.2 (bad destination system: no such domain)\nX-PowerMTA-BounceCategory: bad-domain',
  }),
  withOriginal(
    'SmarterMail',
    'hard',
    `Could not deliver message to the following recipient(s):

Failed Recipient: joe@dest.test
Reason: Remote host said: 550 5.1.1 <joe@dest.test> recipient rejected

   -- The header and top 20 lines of the message follows --`,
    { from: 'System Administrator <postmaster@dest.test>', subject: 'Delivery Failure' },
  ),
  plain(
    'MailEnable',
    'hard',
    `MailEnable: Message could not be delivered to some recipients.
The following recipient(s) could not be reached:

\tRecipient: [SMTP:joe@dest.test]
\tReason: The remote mail server told: 550 joe@dest.test is not a valid mailbox`,
    { from: 'Postmaster@dest.test', subject: 'Message Delivery Failure' },
  ),
  plain(
    'MailEnable',
    'hard',
    `MailEnable: Message could not be delivered to some recipients.
The following recipient(s) could not be reached:

\tRecipient: [SMTP:joe@dest.test]
\tReason: The recipient's domain could not be found. The domain may not exist.`,
    { from: 'Postmaster@dest.test', subject: 'Message Delivery Failure' },
  ),
  plain(
    'Barracuda',
    'soft',
    `Your message to joe@dest.test was blocked by our Spam Firewall. The email you sent with the following subject has NOT BEEN DELIVERED:

Subject: Invoice 4711`,
    {
      from: 'Barracuda Spam Firewall <postmaster@dest.test>',
      subject: '**Message you sent blocked by our bulk email filter**',
    },
  ),
  dsn('Barracuda', 'hard', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 permanent failure for one or more recipients (joe@dest.test:550 5.1.1 <joe@dest.test>: Recipient address rejected: User unknown)',
  }),
  plain(
    'IronPort',
    'hard',
    `The following message to <joe@dest.test> was undeliverable.
The reason for the problem:
5.1.2 - Bad destination host 'DNS Hard Error looking up dest.test (MX):  NXDomain'`,
    { subject: 'Delivery Status Notification (Failure)' },
  ),
  plain(
    'IronPort',
    'hard',
    `The following message to <joe@dest.test> was undeliverable.
The reason for the problem:
5.3.0 - Other mail system problem 550-'no such user (joe)'`,
    { subject: 'Delivery Status Notification (Failure)' },
  ),
  plain(
    'IronPort',
    'soft',
    `The following message to <joe@dest.test> was undeliverable.
The reason for the problem:
5.4.7 - Delivery expired (message too old) 'timeout'`,
    { subject: 'Delivery Status Notification (Failure)' },
  ),
  plain(
    'PMDF',
    'hard',
    `This report relates to a message you sent with the following header fields:

  Message-id: <m1@sender.test>
  Subject: Invoice 4711

Your message cannot be delivered to the following recipients:

  Recipient address: joe@dest.test
  Reason: Unable to deliver to specified mailbox: no such directory entry`,
    { from: 'PMDF e-Mail Interconnect <postmaster@dest.test>', subject: 'Delivery Notification: Delivery has failed' },
  ),
  plain(
    'Novell NIMS',
    'hard',
    `The following addresses had delivery errors:
joe@dest.test: User does not exist on this system`,
    { from: 'Mailer-Daemon@dest.test', subject: 'Returned mail: delivery problems encountered' },
  ),
  plain(
    'Mercury',
    'hard',
    `One or more addresses in your message have failed with the following
responses from the mail transport system:

    joe: User not known at this site.`,
    { from: 'Mail System <postmaster@dest.test>', subject: 'Delivery problems: Invoice 4711' },
  ),
  plain(
    'ezmlm',
    'soft',
    `Hi. This is the ezmlm program managing the team@dest.test mailing list.

I'm sorry, your message was not delivered to team@dest.test: Sorry, only subscribers may post. If you are a subscriber, please forward this message to team-owner@dest.test (#5.7.2)`,
    {
      from: 'team-help@dest.test',
      subject: 'failure notice',
      header: 'Content-Language: en\nX-Failed-Recipients: team@dest.test\n',
    },
  ),
  html(
    'Zimbra',
    'soft',
    '<p>This is the mail system at host mx.dest.test.</p><pre>&lt;joe@dest.test&gt;: host mx.dest.test[192.0.2.1] said: 452 4.2.2 Over quota (in reply to end of DATA command)</pre>',
  ),
];
