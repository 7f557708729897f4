import { type BounceCase, dsn, html, plain, withOriginal } from './bounce-case.ts';

const failed = (status: string, diagnosis: string, final = 'rfc822; joe@dest.test') =>
  `Final-Recipient: ${final}\nAction: failed\nStatus: ${status}\nDiagnostic-Code: ${diagnosis}`;

/** Reports of servers that organizations run themselves. */
export const MAIL_SERVERS: readonly BounceCase[] = [
  dsn(
    'Domino',
    'hard',
    {
      text: `Your message

  Subject: Invoice 4711

was not delivered to:

  joe@dest.test

because:

  User joe (joe@dest.test) not listed in Domino Directory`,
      fields: failed('5.0.0', 'X-Notes; User joe (joe@dest.test) not listed in Domino Directory'),
    },
    { subject: 'DELIVERY FAILURE: User joe (joe@dest.test) not listed in Domino Directory' },
  ),
  plain(
    'Domino German',
    'hard',
    `Ihre Nachricht

  Betreff: Rechnung 4711

konnte nicht zugestellt werden an:

  joe@dest.test

Grund:

  Benutzer joe (joe@dest.test) ist nicht im Domino-Verzeichnis aufgeführt`,
    {
      from: 'Postmaster@dest.test',
      subject: 'ZUSTELLUNGSFEHLER: Benutzer joe ist nicht im Domino-Verzeichnis aufgeführt',
    },
  ),
  plain(
    'Domino French',
    'hard',
    `Votre document : Facture 4711
n'a pas été distribué à : joe@dest.test
pour la raison suivante : L'utilisateur joe (joe@dest.test) n'est pas répertorié dans l'annuaire Domino`,
    { from: 'Postmaster@dest.test', subject: 'ECHEC DE DISTRIBUTION' },
  ),
  plain(
    'Notes',
    'hard',
    `------- Failure Reasons  --------

User not listed in public Name & Address Book
joe@dest.test

------- Returned Message --------

To: joe@dest.test`,
    { from: 'MAILER-DAEMON@notes.dest.test', subject: 'DELIVERY FAILURE' },
  ),
  dsn('Domino', 'soft', {
    fields: failed(
      '5.0.0',
      'X-Notes; Delivery failure: Cannot deliver message to joe because the database quota was exceeded (mailbox full)',
    ),
  }),
  dsn('Domino', 'hard', {
    fields: failed(
      '5.7.1',
      'X-Notes; Error transferring to MX.DEST.TEST; SMTP Protocol Returned a Permanent Error 550 5.7.1 joe@dest.test... No such user',
    ),
  }),
  dsn('Sendmail 8', 'hard', {
    text: `The original message was received at Mon, 5 Jan 2009 10:11:12 +0100
from localhost [127.0.0.1]

   ----- The following addresses had permanent fatal errors -----
<joe@dest.test>
    (reason: 550 5.0.0 <joe@dest.test>... Unknown user)

   ----- Transcript of session follows -----
... while talking to mx.dest.test.:
>>> DATA
<<< 550 5.0.0 <joe@dest.test>... Unknown user
550 5.1.1 <joe@dest.test>... User unknown
<<< 503 5.0.0 Need RCPT (recipient)`,
    fields: failed('5.0.0', 'SMTP; 550 5.0.0 <joe@dest.test>... Unknown user', 'RFC822; joe@dest.test'),
  }),
  dsn('Sendmail 8', 'hard', {
    text: `   ----- The following addresses had permanent fatal errors -----
<joe@dest.test>
    (reason: 550 Host unknown)

   ----- Transcript of session follows -----
550 5.1.2 <joe@dest.test>... Host unknown (Name server: dest.test: host not found)`,
    fields: `Final-Recipient: RFC822; joe@dest.test
Action: failed
Status: 5.1.2
Remote-MTA: DNS; dest.test`,
  }),
  plain(
    'Sendmail 5',
    'hard',
    `   ----- Transcript of session follows -----
550 dest.test (TCP)... 550 Host unknown
554 joe@dest.test... 550 Host unknown (Authoritative answer from name server)

   ----- Unsent message follows -----
Received: by sender.test id AA01`,
  ),
  plain(
    'Sendmail 5',
    'hard',
    `   ----- Transcript of session follows -----
While talking to mx.dest.test:
>>> RCPT To:<joe@dest.test>
<<< 550 <joe@dest.test>... User unknown
550 joe@dest.test... User unknown

   ----- Unsent message follows -----
Received: by sender.test id AA01`,
  ),
  dsn('Sendmail 8', 'soft', {
    text: `   ----- The following addresses had permanent fatal errors -----
<joe@dest.test>

   ----- Transcript of session follows -----
<joe@dest.test>... Deferred: Connection timed out with mx.dest.test.
Message could not be delivered for 5 days
Message will be deleted from queue`,
    fields: failed('4.4.7', 'SMTP; 451 4.4.1 Connection timed out', 'RFC822; joe@dest.test'),
  }),
  plain(
    'Sendmail 8',
    'delay',
    `    **********************************************
    **      THIS IS A WARNING MESSAGE ONLY      **
    **  YOU DO NOT NEED TO RESEND YOUR MESSAGE  **
    **********************************************

   ----- Transcript of session follows -----
<joe@dest.test>... Deferred: Connection refused by mx.dest.test.
Warning: message still undelivered after 4 hours
Will keep trying until message is 5 days old`,
    { subject: 'Warning: could not send message for past 4 hours' },
  ),
  plain(
    'qmail',
    'hard',
    `Hi. This is the qmail-send program at mx.dest.test.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<joe@dest.test>:
192.0.2.1 does not like recipient.
Remote host said: 550 no such account
Giving up on 192.0.2.1.

--- Below this line is a copy of the message.

Return-Path: <us@sender.test>`,
    { subject: 'failure notice' },
  ),
  plain(
    'qmail',
    'hard',
    `Hi. This is the qmail-send program at mx.dest.test.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<joe@dest.test>:
Sorry, I couldn't find any host named dest.test. (#5.1.2)

--- Below this line is a copy of the message.`,
    { subject: 'failure notice' },
  ),
  plain(
    'qmail',
    'hard',
    `Hi. This is the qmail-send program at mx.dest.test.
I'm afraid I wasn't able to deliver your message to the following addresses.

<joe@dest.test>:
This address no longer accepts mail.

--- Below this line is a copy of the message.`,
    { subject: 'failure notice' },
  ),
  plain(
    'qmail',
    'soft',
    `Hi. This is the qmail-send program at mx.dest.test.
I'm afraid I wasn't able to deliver your message to the following addresses.

<joe@dest.test>:
The users mailfolder is over the allowed quota (size). (#5.2.2)

--- Below this line is a copy of the message.`,
    { subject: 'failure notice' },
  ),
  plain(
    'qmail-ldap',
    'soft',
    `Hi. This is the qmail-send program at mx.dest.test.
I'm afraid I wasn't able to deliver your message to the following addresses.

<joe@dest.test>:
Mailaddress is administratively disabled. (#5.2.1)

--- Below this line is a copy of the message.`,
    { subject: 'failure notice' },
  ),
  plain(
    'qmail',
    'soft',
    `Hi. This is the qmail-send program at mx.dest.test.
I'm afraid I wasn't able to deliver your message to the following addresses.

<joe@dest.test>:
Sorry, I wasn't able to establish an SMTP connection. (#4.4.1)
I'm not going to try again; this message has been in the queue too long.

--- Below this line is a copy of the message.`,
    { subject: 'failure notice' },
  ),
  dsn('Postfix', 'hard', {
    fields: failed(
      '5.1.1',
      'smtp; 550 5.1.1 <joe@dest.test>: Recipient address rejected: User unknown in virtual mailbox table',
    ),
  }),
  dsn('Postfix', 'hard', {
    text: `I'm sorry to have to inform you that your message could not be delivered to one or more recipients.

<joe@dest.test>: host mx.dest.test[192.0.2.1] said: 450 <joe@dest.test>:
    Recipient address rejected: User unknown in local recipient table (in reply
    to RCPT TO command)`,
    fields: failed(
      '4.0.0',
      'smtp; 450 <joe@dest.test>: Recipient address rejected: User unknown in local recipient table',
    ),
  }),
  dsn('Postfix', 'hard', {
    text: `<joe@dest.test>: Domain dest.test does not accept mail (nullMX)`,
    fields: failed('5.1.0', 'X-Postfix; Domain dest.test does not accept mail (nullMX)'),
  }),
  dsn('Postfix', 'hard', {
    text: `<joe@dest.test>: Host or domain name not found. Name service error for name=dest.test type=A: Host not found`,
    fields: failed(
      '5.4.4',
      'X-Postfix; Host or domain name not found. Name service error for name=dest.test type=A: Host not found',
    ),
  }),
  dsn('Postfix', 'soft', {
    fields: failed(
      '4.2.0',
      'smtp; 450 4.2.0 <joe@dest.test>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/help/dest.test.html',
    ),
  }),
  dsn('Postfix', 'soft', { fields: failed('5.7.1', 'smtp; 554 5.7.1 <joe@dest.test>: Relay access denied') }),
  dsn('Postfix', 'soft', {
    fields: failed(
      '5.7.1',
      'smtp; 554 5.7.1 Service unavailable; Client host [192.0.2.9] blocked using zen.spamhaus.org',
    ),
  }),
  dsn('Postfix', 'soft', {
    text: '<joe@dest.test>: host mx.dest.test[192.0.2.1] said: 450 4.1.1 <joe@dest.test>: Recipient address rejected: unverified address: Address verification in progress (in reply to RCPT TO command)',
    fields: failed(
      '4.1.1',
      'smtp; 450 4.1.1 <joe@dest.test>: Recipient address rejected: unverified address: Address verification in progress',
    ),
  }),
  plain(
    'Exim',
    'hard',
    `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  joe@dest.test
    Unrouteable address

------ This is a copy of the message, including all the headers. ------`,
    { subject: 'Mail delivery failed: returning message to sender' },
  ),
  plain(
    'Exim',
    'hard',
    `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  joe@dest.test
    host mx.dest.test [192.0.2.1]
    SMTP error from remote mail server after RCPT TO:<joe@dest.test>:
    550-5.7.1 The recipient joe@dest.test is
    550 5.7.1 unknown here`,
    { subject: 'Mail delivery failed: returning message to sender' },
  ),
  plain(
    'Exim',
    'hard',
    `A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  joe@dest.test
    all relevant MX records point to non-existent hosts`,
    { subject: 'Mail delivery failed: returning message to sender' },
  ),
  plain(
    'Exim',
    'soft',
    `A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  joe@dest.test
    SMTP error from remote mail server after RCPT TO:<joe@dest.test>:
    host mx.dest.test [192.0.2.1]: 550-Verification failed for <us@sender.test>
    550-Unknown user
    550 Sender verify failed`,
    { subject: 'Mail delivery failed: returning message to sender' },
  ),
  plain(
    'Exim',
    'soft',
    `A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  joe@dest.test
    retry timeout exceeded`,
    { subject: 'Mail delivery failed: returning message to sender' },
  ),
  plain(
    'Exim',
    'delay',
    `This message was created automatically by mail delivery software.
A message that you sent has not yet been delivered to one or more of its
recipients after more than 24 hours on the queue on mx.sender.test.

The address to which the message has not yet been delivered is:

  joe@dest.test
    Delay reason: Connection timed out

No action is required on your part. Delivery attempts will continue for
some time.`,
    { subject: 'Warning: message 1abc delayed 24 hours' },
  ),
  dsn('PowerMTA', 'hard', {
    text: `Hello, this is the mail server on pmta.dest.test.

I am sending you this message to inform you on the delivery status of a
message you previously sent.  Immediately below you will find a list of
the affected recipients;  also attached is a Delivery Status Notification
(DSN) report in standard format, as well as the headers of the original
message.

  <joe@dest.test>  delivery failed; will not continue trying`,
    fields: `Final-Recipient: rfc822;joe@dest.test
Action: failed
Status: 5.5.0 (other or undefined protocol status)
Remote-MTA: dns;mx.dest.test (192.0.2.1)
Diagnostic-Code: smtp;550 unknown user account
X-PowerMTA-BounceCategory: bad-mailbox`,
  }),
  dsn('PowerMTA', 'hard', {
    fields: `Final-Recipient: rfc822;joe@dest.test
Action: failed
Status: 5.0.0
Diagnostic-Code: X-PowerMTA; bad destination domain dest.test, no such domain
X-PowerMTA-BounceCategory: bad-domain`,
  }),
  dsn('PowerMTA', 'soft', {
    fields: `Final-Recipient: rfc822;joe@dest.test
Action: failed
Status: 5.7.1
Diagnostic-Code: smtp;554 5.7.1 [internal] message rejected: spam content
X-PowerMTA-BounceCategory: spam-content`,
  }),
  plain(
    'Courier',
    'hard',
    `This is a delivery status notification from courier.dest.test,
running the Courier mail server, version 0.65.

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
    'hard',
    `This is a delivery status notification from courier.dest.test.

UNDELIVERABLE MAIL

Your message to the following recipients cannot be delivered:

<joe@dest.test>:
    No such domain.`,
    { subject: 'NOTICE: mail delivery status.' },
  ),
  plain(
    'MailMarshal',
    'hard',
    `Your message:
   From:      us@sender.test
   Subject:   Invoice 4711

Could not be delivered because of

550 No such user here

The following recipients were affected:
    joe@dest.test`,
    { from: 'MailMarshal@dest.test', subject: 'Undeliverable Mail: "Invoice 4711"' },
  ),
  plain(
    'IMail',
    'hard',
    `Unknown host: joe@dest.test

Original message follows.
Received: from sender.test`,
    { from: 'Postmaster <postmaster@dest.test>', subject: 'Undeliverable Mail' },
  ),
  plain(
    'IMail',
    'soft',
    `User mailbox exceeds allowed size: joe@dest.test

Original message follows.`,
    { from: 'Postmaster <postmaster@dest.test>', subject: 'Undeliverable Mail' },
  ),
  plain(
    'IMail',
    'soft',
    `Delivery failed 20 attempts: joe@dest.test

Original message follows.`,
    { from: 'Postmaster <postmaster@dest.test>', subject: 'Undeliverable Mail' },
  ),
  plain(
    'OpenSMTPD',
    'hard',
    `    Hi!

    This is the MAILER-DAEMON, please DO NOT REPLY to this email.

    An error has occurred while attempting to deliver a message for
    the following list of recipients:

joe@dest.test: 550 Invalid recipient

    Below is a copy of the original message:`,
    { subject: 'Delivery status notification: error' },
  ),
  plain(
    'James',
    'hard',
    `Hi. This is the James mail server at james.dest.test.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.  Below
I include the list of recipients and the reason why I was unable to deliver
your message.

Failed recipient(s):
joe@dest.test

Error message:
There are no DNS entries for the hostname dest.test.  I cannot determine where to send this message.`,
    { from: 'postmaster@james.dest.test', subject: 'Re:Invoice 4711' },
  ),
  plain(
    'James',
    'hard',
    `Hi. This is the James mail server at james.dest.test.
I'm afraid I wasn't able to deliver your message to the following addresses.

Failed recipient(s):
joe@dest.test

Error message:
javax.mail.SendFailedException: Invalid Addresses;
  nested exception is:
class com.sun.mail.smtp.SMTPAddressFailedException: 550 <joe@dest.test>: No such mailbox`,
    { from: 'postmaster@james.dest.test', subject: 'Re:Invoice 4711' },
  ),
  plain(
    'Kerio',
    'hard',
    `Your message has encountered delivery problems
to the following recipient(s):

joe@dest.test
Host name lookup failure: domain dest.test not found

Your message has not been delivered.`,
    { from: 'postmaster@kerio.dest.test', subject: 'Delivery failure' },
  ),
  plain(
    'MDaemon',
    'hard',
    `The attached message had PERMANENT fatal delivery errors!

After one or more unsuccessful delivery attempts the attached message has
been removed from the mail queue on this server.

Failed address: joe@dest.test

--- Session Transcript ---
 Wed 2010-01-06 10:11:12: --> RCPT To:<joe@dest.test>
 Wed 2010-01-06 10:11:12: <-- 550 <joe@dest.test>, Recipient unknown
 Wed 2010-01-06 10:11:12: --> QUIT
--- End Transcript ---`,
    { from: 'MDaemon at dest.test <MDaemon@dest.test>', subject: 'Permanent Delivery Failure' },
  ),
  plain(
    'MDaemon',
    'hard',
    `The attached message had PERMANENT fatal delivery errors!

Failed address: joe@dest.test

--- Session Transcript ---
 Wed 2010-01-06 10:11:12: *  P=010 S=001 D=dest.test TTL=(-1)
 Wed 2010-01-06 10:11:12: *  Name server reports domain name unknown
 Wed 2010-01-06 10:11:12: *  The domain does not exist
--- End Transcript ---`,
    { from: 'MDaemon at dest.test <MDaemon@dest.test>', subject: 'Permanent Delivery Failure' },
  ),
  plain(
    'Mercury',
    'hard',
    `--------- This is a system-generated message ---------
A message you sent to one or more addresses could not be delivered.

The following addresses were invalid or inaccessible:

joe@dest.test: User not known at this site.`,
    { from: 'Electronic Postmaster <postmaster@dest.test>', subject: 'Postmaster Notify: Delivery Failure.' },
  ),
  plain(
    'CommuniGate',
    'hard',
    `Failed to deliver to 'joe@dest.test'
SMTP module(domain dest.test) reports:
 host name is unknown`,
    { from: 'MAILER-DAEMON@cgp.dest.test', subject: 'Undeliverable mail: Invoice' },
  ),
  plain(
    'CommuniGate',
    'hard',
    `Failed to deliver to 'joe@dest.test'
LOCAL module reports:
 unknown user account`,
    { from: 'MAILER-DAEMON@cgp.dest.test', subject: 'Undeliverable mail: Invoice' },
  ),
  plain(
    'CommuniGate',
    'soft',
    `Failed to deliver to 'joe@dest.test'
LOCAL module(account joe) reports:
 account is full (quota exceeded)`,
    { from: 'MAILER-DAEMON@cgp.dest.test', subject: 'Undeliverable mail: Invoice' },
  ),
  plain(
    'SmarterMail',
    'hard',
    `Could not deliver message to the following recipient(s):

Failed Recipient: joe@dest.test
Reason: Remote host said: 550 No such user here

   -- The header and top 20 lines of the message follows --`,
    { from: 'System Administrator <postmaster@dest.test>', subject: 'Delivery Failure' },
  ),
  plain(
    'SmarterMail',
    'hard',
    `Could not deliver message to the following recipient(s):

Failed Recipient: joe@dest.test
Reason: Domain has no MX records or is invalid

   -- The header and top 20 lines of the message follows --`,
    { from: 'System Administrator <postmaster@dest.test>', subject: 'Delivery Failure' },
  ),
  plain(
    'hMailServer',
    'hard',
    `Your message did not reach some or all of the intended recipients.

   Sent: Mon, 05 Jan 2009 10:11:12 +0100
   Subject: Invoice 4711

The following recipient(s) could not be reached:

joe@dest.test
   Error Type: SMTP
   Remote server (192.0.2.1) issued an error.
   hMailServer sent: RCPT TO:<joe@dest.test>
   Remote server replied: 550 Unknown account

hMailServer`,
    { from: 'mailer-daemon@dest.test', subject: 'Message undeliverable: Invoice 4711' },
  ),
  plain(
    'hMailServer',
    'hard',
    `Your message did not reach some or all of the intended recipients.

The following recipient(s) could not be reached:

joe@dest.test
   Error Type: SMTP
   Error Description: No mail servers appear to exists for the recipient's address.
   Additional information: Please check that you have not misspelled the recipient's email address.

hMailServer`,
    { from: 'mailer-daemon@dest.test', subject: 'Message undeliverable: Invoice 4711' },
  ),
  plain(
    'IceWarp',
    'hard',
    `Your message could not be delivered.

joe@dest.test
  550 5.1.1 <joe@dest.test> User unknown; rejecting`,
    { from: 'postmaster@icewarp.dest.test', subject: 'Delivery failure (joe@dest.test)' },
  ),
  plain(
    'GroupWise',
    'hard',
    `The message that you sent was undeliverable to the following:

\tjoe (user not found)

Possibly truncated original message follows:`,
    { from: 'Mailer-Daemon@gw.dest.test', subject: 'Mail System Error - Returned Mail' },
  ),
  dsn(
    'Sun Messaging Server',
    'hard',
    {
      text: `This report relates to a message you sent with the following header fields:

  Subject: Invoice 4711

Your message cannot be delivered to the following recipients:

  Recipient address: joe@dest.test
  Reason: Illegal host/domain name found`,
      fields: `Final-recipient: rfc822;joe@dest.test
Action: failed
Status: 5.4.4 (Illegal host/domain name found)`,
    },
    { subject: 'Delivery Notification: Delivery has failed' },
  ),
  dsn(
    'Sun Messaging Server',
    'hard',
    {
      text: `Your message cannot be delivered to the following recipients:

  Recipient address: joe@dest.test
  Reason: Remote SMTP server has rejected address
  Diagnostic code: smtp;550 unknown user joe`,
      fields: `Original-recipient: rfc822;joe@dest.test
Final-recipient: rfc822;joe@dest.test
Action: failed
Status: 5.0.0 (Remote SMTP server has rejected address)
Diagnostic-code: smtp;550 unknown user joe`,
    },
    { subject: 'Delivery Notification: Delivery has failed' },
  ),
  plain(
    'smail',
    'hard',
    `|------------------------- Message log follows: -------------------------|
 no valid recipients were found for this message
|------------------------- Failed addresses follow: ---------------------|
 <joe@dest.test> ... unknown user
|------------------------- Message text follows: ------------------------|
Received: by sender.test`,
    { subject: 'mail failed, returning to sender' },
  ),
  plain(
    'smail',
    'hard',
    `|------------------------- Message log follows: -------------------------|
 no valid recipients were found for this message
|------------------------- Failed addresses follow: ---------------------|
 <joe@dest.test> ... unknown host
|------------------------- Message text follows: ------------------------|`,
    { subject: 'mail failed, returning to sender' },
  ),
  plain(
    'XMail',
    'hard',
    `[<00>] XMail bounce: Rcpt=[joe@dest.test];Error=[550 Mailbox not found]

[<01>] Error sending message [1262769072] from [sender.test].

ID:        <S1>
Mail From: <us@sender.test>
Rcpt To:   <joe@dest.test>
Server:    <mx.dest.test>

[<02>] The reason of the delivery failure was:

550 Mailbox not found

[<05>] Here is listed the initial part of the message:`,
    { from: 'root@xmail.dest.test', subject: 'Error sending message [1262769072] from [sender.test]' },
  ),
  plain(
    'ZMailer',
    'hard',
    `This is a collection of reports about email delivery
process concerning a message you originated.

FAILED:
  Original Recipient:
    rfc822;joe@dest.test
  Diagnostic texts:
    <<- RCPT To:<joe@dest.test>
    ->> 550 5.1.1 unknown local-part joe`,
    { subject: 'Delivery reports about your message' },
  ),
  withOriginal(
    'Unnamed',
    'hard',
    `Sorry, your mail could not be delivered to

    joe@dest.test

There is no user with that name.`,
    { subject: 'Mail could not be delivered' },
  ),
  html(
    'Unnamed',
    'hard',
    `<h3>Message not delivered</h3><p>The message to joe@dest.test bounced.</p><p>Reason: The recipient does not exist on this server.</p>`,
    { subject: 'Message not delivered' },
  ),
];
