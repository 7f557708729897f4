import { type BounceCase, dsn, html, plain, withOriginal } from './bounce-case.ts';

const failed = (status: string, diagnosis: string, final = 'rfc822; joe@dest.test') =>
  `Final-Recipient: ${final}\nAction: failed\nStatus: ${status}\nDiagnostic-Code: ${diagnosis}`;
const GOOGLE = {
  from: 'Mail Delivery Subsystem <mailer-daemon@googlemail.com>',
  subject: 'Delivery Status Notification (Failure)',
};

/** Reports of mailbox providers, mobile carriers, filters and sending services. */
export const PROVIDERS: readonly BounceCase[] = [
  plain(
    'Verizon',
    'hard',
    `Message could not be delivered to mobile.
Error: No valid recipients for this MM`,
    { from: 'post_master@vtext.com', subject: 'Undeliverable Message' },
  ),
  withOriginal(
    'Yahoo',
    'hard',
    `Sorry, we were unable to deliver your message to the following address.

<joe@dest.test>:
Remote host said: 550 unknown user [RCPT_TO]`,
    { from: 'MAILER-DAEMON@yahoo.com', subject: 'Failure Notice' },
  ),
  withOriginal(
    'Yahoo',
    'hard',
    `Sorry, we were unable to deliver your message to the following address.

<joe@dest.test>:
No MX or A records for dest.test

--- Below this line is a copy of the message.`,
    { from: 'MAILER-DAEMON@yahoo.com', subject: 'Failure Notice' },
  ),
  dsn('Yahoo', 'hard', {
    fields: failed(
      '5.0.0',
      "smtp; 554 delivery error: dd This user doesn't have a yahoo.com account (joe@dest.test) [0] - mta1.mail.yahoo.com",
    ),
  }),
  dsn('Yahoo', 'hard', { fields: failed('5.0.0', 'smtp; 552 1 Requested mail action aborted, mailbox not found') }),
  dsn('Yahoo', 'soft', {
    fields: failed(
      '5.0.0',
      'smtp; 554 delivery error: dd Sorry your message to joe@dest.test cannot be delivered. This account has been disabled or discontinued [#102].',
    ),
  }),
  dsn('Yahoo', 'soft', {
    fields: failed(
      '5.7.9',
      'smtp; 554 5.7.9 Message not accepted for policy reasons. See https://postmaster.yahooinc.com/error-codes',
    ),
  }),
  plain(
    'GMX',
    'hard',
    `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of
its recipients. This is a permanent error. The following address
failed:

"joe@dest.test":
SMTP error from remote server after RCPT command:
host: mx.dest.test
unknown recipient

--- The header of the original message is following. ---`,
    { from: 'GMX Mailer Daemon <mailer-daemon@gmx.net>', subject: 'Mail delivery failed: returning message to sender' },
  ),
  plain(
    '1&1',
    'hard',
    `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of
its recipients. The following addresses failed:

<joe@dest.test>

SMTP error from remote server for RCPT TO command, host: mx.dest.test (192.0.2.1) reason: 550 Requested action not taken: mailbox unavailable

--- The header of the original message is following. ---`,
    {
      from: 'Mail Delivery System <mailer-daemon@kundenserver.de>',
      subject: 'Mail delivery failed: returning message to sender',
    },
  ),
  plain(
    'WEB.DE',
    'hard',
    `Diese Nachricht wurde automatisch von einem Mail-Server erzeugt.

Ihre E-Mail konnte an folgende Adresse nicht zugestellt werden:

joe@dest.test:
Der Empfänger existiert nicht.`,
    { from: 'mailer-daemon@web.de', subject: 'Fehler beim Zustellen Ihrer E-Mail' },
  ),
  dsn('AOL', 'hard', {
    fields: failed('5.1.1', 'smtp; 550 5.1.1 <joe@dest.test>: Recipient address rejected: aol.com'),
  }),
  dsn('AOL', 'hard', { fields: failed('5.0.0', 'SMTP; 550 MAILBOX NOT FOUND') }),
  withOriginal(
    'AOL',
    'soft',
    `Your mail to the following recipients could not be delivered because they are not accepting mail from us@sender.test:
\tjoe`,
    { from: 'MAILER-DAEMON@aol.com', subject: 'Mail Delivery Problem' },
  ),
  plain(
    'Gmail',
    'hard',
    `
** Address not found **

Your message wasn't delivered to joe@dest.test because the domain dest.test couldn't be found. Check for typos or unnecessary spaces and try again.

The response was:

DNS Error: DNS type 'mx' lookup of dest.test responded with code NXDOMAIN
Domain name not found: dest.test`,
    GOOGLE,
  ),
  plain(
    'Gmail German',
    'hard',
    `
** Die Adresse wurde nicht gefunden **

Ihre Nachricht wurde nicht an joe@dest.test zugestellt, weil die Adresse nicht gefunden wurde oder keine E-Mails empfangen kann.`,
    GOOGLE,
  ),
  plain(
    'Gmail Spanish',
    'hard',
    `
** No se ha encontrado la dirección **

Tu mensaje no se ha entregado a joe@dest.test porque no se ha encontrado la dirección o esta no puede recibir correo.`,
    GOOGLE,
  ),
  plain(
    'Gmail French',
    'hard',
    `
** Adresse introuvable **

Votre message n'a pas été remis à joe@dest.test, car l'adresse est introuvable ou ne peut pas recevoir d'e-mails.`,
    GOOGLE,
  ),
  plain(
    'Gmail Portuguese',
    'hard',
    `
** Endereço não encontrado **

Sua mensagem não foi entregue a joe@dest.test porque o endereço não foi encontrado ou não pode receber e-mails.`,
    GOOGLE,
  ),
  plain(
    'Gmail Japanese',
    'hard',
    `
** 宛先不明 **

joe@dest.test が見つからなかったか、メールを受信できないアドレスのため、メールは配信されませんでした。`,
    GOOGLE,
  ),
  plain(
    'Gmail Italian',
    'soft',
    `
** Posta in arrivo del destinatario piena **

Non è stato possibile recapitare il tuo messaggio a joe@dest.test. La sua casella di posta è piena oppure riceve troppa posta.`,
    GOOGLE,
  ),
  plain(
    'Gmail',
    'soft',
    `
** Message blocked **

Your message to joe@dest.test has been blocked. See technical details below for more information.

The response was:

550 5.7.26 This mail is unauthenticated, which poses a security risk`,
    GOOGLE,
  ),
  plain(
    'Gmail',
    'hard',
    `Delivery to the following recipient failed permanently:

     joe@dest.test

Technical details of permanent failure:
DNS Error: Domain name not found

----- Original message -----`,
    GOOGLE,
  ),
  plain(
    'Gmail',
    'hard',
    `Delivery to the following recipient failed permanently:

     joe@dest.test

Technical details of permanent failure:
Google tried to deliver your message, but it was rejected by the recipient domain. We recommend contacting the other email provider for further information about the cause of this error. The error that the other server returned was: 554 554 5.7.1 <joe@dest.test>: Recipient address rejected: User unknown (state 14).

----- Original message -----`,
    GOOGLE,
  ),
  plain(
    'Gmail',
    'delay',
    `
** Delivery incomplete **

There was a temporary problem delivering your message to joe@dest.test. Gmail will retry for 46 more hours. You'll be notified if the delivery fails permanently.`,
    { ...GOOGLE, subject: 'Delivery Status Notification (Delay)' },
  ),
  plain(
    'Google Groups',
    'soft',
    `Hello us@sender.test,

We're writing to let you know that the group you tried to contact (sales) may not exist, or you may not have permission to post messages to the group.`,
    GOOGLE,
  ),
  dsn('iCloud', 'hard', { fields: failed('5.5.0', 'smtp; 550 5.5.0 unknown or illegal alias: joe@dest.test') }),
  dsn('iCloud', 'soft', { fields: failed('5.2.2', 'smtp; 552 5.2.2 <joe@dest.test>: user is over quota') }),
  plain(
    'Zoho',
    'hard',
    `This message was created automatically by mail delivery software.
 A message that you sent could not be delivered to one or more of its recipients. This is a permanent error.

joe@dest.test Invalid Address, ERROR_CODE :550, ERROR_CODE :<joe@dest.test>: Recipient address rejected: User unknown in local recipient table`,
    { from: 'mailer-daemon@mail.zoho.com', subject: 'Undelivered Mail Returned to Sender' },
  ),
  dsn(
    'Yandex',
    'hard',
    {
      text: `Это письмо отправлено почтовым сервером yandex.ru.

К сожалению, мы вынуждены сообщить Вам о том, что Ваше письмо не может
быть отправлено одному или нескольким адресатам.

<joe@dest.test>: host mx.dest.test[192.0.2.1] said: 550 5.7.1 No such user! (in reply to RCPT TO command)`,
      fields: failed('5.7.1', 'smtp; 550 5.7.1 No such user!'),
    },
    { subject: 'Недоставленное сообщение' },
  ),
  plain(
    'mail.ru',
    'hard',
    `Это письмо создано автоматически сервером Mail.Ru, отвечать на него не
нужно.

К сожалению, Ваше письмо не может быть доставлено одному или нескольким получателям:

**********************
joe@dest.test
Такого почтового ящика нет на сервере
**********************`,
    { from: 'mailer-daemon@corp.mail.ru', subject: 'Mail failure.' },
  ),
  dsn('mail.ru', 'hard', {
    fields: failed(
      '5.0.0',
      'smtp; 550 Message was not accepted -- invalid mailbox. Local mailbox joe@dest.test is unavailable: user is terminated',
    ),
  }),
  html(
    'QQ',
    'hard',
    `<div>很抱歉您发送的邮件被退回，以下是该邮件的相关信息：</div><table><tr><td>主题：发票</td></tr><tr><td>无法发送到 joe@dest.test</td></tr></table><div>退信原因：收件人邮件地址（joe@dest.test）不存在，邮件无法送达。</div>`,
    { from: 'PostMaster <PostMaster@qq.com>', subject: '来自qq.com的退信' },
  ),
  html(
    '163',
    'hard',
    `<p>抱歉，您的邮件被退回来了……</p><p>收件人：joe@dest.test</p><p>退信原因：收件人帐号不存在。</p><p>User not exist</p>`,
    { from: 'Postmaster@163.com', subject: '系统退信' },
  ),
  html(
    '163',
    'soft',
    `<p>抱歉，您的邮件被退回来了……</p><p>收件人：joe@dest.test</p><p>退信原因：对方邮箱空间已满。</p>`,
    { from: 'Postmaster@163.com', subject: '系统退信' },
  ),
  html(
    '126',
    'hard',
    `<p>抱歉，您的邮件被退回来了……</p><p>收件人：joe@dest.test</p><p>退信原因：无法找到收件人的域名，请检查邮件地址。</p>`,
    { from: 'Postmaster@126.com', subject: '系统退信' },
  ),
  dsn(
    'Docomo',
    'hard',
    { text: '', fields: failed('5.0.0', 'smtp; 550 Unknown user joe@dest.test', 'RFC822; joe@dest.test') },
    { from: 'Mail Delivery Subsystem <MAILER-DAEMON@docomo.ne.jp>' },
  ),
  plain(
    'au',
    'hard',
    `次のあて先へのメッセージはエラーのため送信できませんでした。

  <joe@dest.test>
  ユーザーが存在しません。`,
    { from: 'MAILER-DAEMON@ezweb.ne.jp', subject: 'Mail System Error - Returned Mail' },
  ),
  plain(
    'au',
    'hard',
    `The user(s) account is unknown:

    Recipient: <joe@dest.test>
    Reason:    <joe@dest.test>... User Unknown`,
    { from: 'Postmaster@ezweb.ne.jp', subject: 'Mail System Error - Returned Mail' },
  ),
  plain(
    'SoftBank',
    'hard',
    `送信したメールは宛先不明のため届きませんでした。

宛先： joe@dest.test
550 Invalid recipient: <joe@dest.test>`,
    { from: 'MAILER-DAEMON@softbank.ne.jp', subject: '送信エラー' },
  ),
  plain(
    'Biglobe',
    'soft',
    `   ----- The following addresses had delivery problems -----
joe@dest.test   (unrecoverable error)

   ----- Non-delivered information -----
The number of messages in recipient's mailbox exceeded the local limit.`,
    { from: 'postmaster@biglobe.ne.jp', subject: 'Returned mail' },
  ),
  dsn('Barracuda', 'hard', {
    fields: failed(
      '5.7.1',
      'smtp; 550 permanent failure for one or more recipients (joe@dest.test:550 5.1.1 unknown recipient)',
    ),
  }),
  dsn('Barracuda', 'soft', {
    fields: failed('5.7.1', 'smtp; 550 permanent failure for one or more recipients (joe@dest.test:blocked)'),
  }),
  dsn('Proofpoint', 'hard', { fields: failed('5.0.0', 'smtp; 550 5.0.0 User Unknown') }),
  dsn('Proofpoint', 'soft', {
    fields: failed('5.7.0', 'smtp; 554 5.7.0 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.9'),
  }),
  dsn('Mimecast', 'hard', {
    fields: failed(
      '5.0.0',
      'smtp; 550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550 [xyz.uk42]',
    ),
  }),
  dsn('Mimecast', 'soft', {
    fields: failed(
      '5.0.0',
      'smtp; 550 Rejected by header based Anti-Spoofing policy: us@sender.test - https://community.mimecast.com/docs/DOC-1369#550',
    ),
  }),
  dsn('IronPort', 'hard', {
    text: `The following message to <joe@dest.test> was undeliverable.
The reason for the problem:
5.1.0 - Unknown address error 550-'<joe@dest.test>: no such mailbox'`,
    fields: failed(
      '5.0.0 (permanent failure)',
      "smtp; 5.1.0 - Unknown address error 550-'<joe@dest.test>: no such mailbox' (delivery attempts: 0)",
    ),
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
    'soft',
    `The following message to <joe@dest.test> was undeliverable.
The reason for the problem:
5.3.0 - Other mail system problem 554-'5.7.1 Service unavailable; Client host [192.0.2.9] blocked'`,
    { subject: 'Delivery Status Notification (Failure)' },
  ),
  plain(
    'IronPort',
    'soft',
    `The following message to <joe@dest.test> was undeliverable.
The reason for the problem:
4.4.7 - Delivery expired (message too old) 'timeout'`,
    { subject: 'Delivery Status Notification (Failure)' },
  ),
  dsn('FortiMail', 'soft', {
    fields: failed(
      '5.7.1',
      'smtp; 554 5.7.1 This message has been blocked because it contains FortiGuard - AntiSpam blocking URL(s)',
    ),
  }),
  plain(
    'SurfControl',
    'hard',
    `Your message could not be sent.

A transcript of the attempts to send the message follows.

Your message was addressed to joe@dest.test
The server returned: 550 <joe@dest.test> Unknown local part`,
    { from: 'SurfControl E-mail Filter <postmaster@dest.test>', subject: 'Message could not be delivered' },
  ),
  plain(
    'Trend Micro IMSS',
    'hard',
    `Sent <<< RCPT TO:<joe@dest.test>
Received >>> 550 <joe@dest.test>: User does not exist
Could not deliver mail to this user.
joe@dest.test
*****************     End of message     ***************`,
    { from: 'IMSS@dest.test', subject: 'Mail could not be delivered' },
  ),
  plain(
    'MessageLabs',
    'soft',
    `This message was created automatically by the mail system.

<joe@dest.test>:
553-Message filtered. Refer to the Troubleshooting page at
553-http://www.symanteccloud.com/troubleshooting for more
553 information. (#5.7.1)`,
    { subject: 'Mail delivery failed' },
  ),
  plain(
    'McAfee',
    'hard',
    `This message was created automatically by the mail delivery software (Secure Mail).

--- The following addresses had delivery problems ---

<joe@dest.test>   (User unknown <joe@dest.test>)`,
    { from: 'postmaster@wsmail.dest.test', subject: 'DELIVERY FAILURE' },
  ),
  plain(
    'm-FILTER',
    'hard',
    `-------server message
550 unknown user <joe@dest.test>

-------original message
From: us@sender.test`,
    { from: 'm-FILTER <MAILER-DAEMON@dest.test>', subject: 'Delivery Failure' },
  ),
  plain(
    'ActiveHunter',
    'hard',
    `  ----- The following addresses had permanent fatal errors -----

  <joe@dest.test>

  ----- Transcript of session follows -----

550 sorry, no mailbox here by that name (#5.1.1 - chkuser)

  ----- Original message follows -----`,
    { subject: 'FAILURE NOTICE :' },
  ),
  dsn('GoDaddy', 'hard', { fields: failed('5.0.0', 'smtp; 550 Recipient not found. https://x.dest.test/irbounce') }),
  dsn('GoDaddy', 'soft', {
    fields: failed(
      '5.7.1',
      'smtp; 552 5.7.1 IB605 Attachment type not allowed. File "a.exe" has the unacceptable extension "exe"',
    ),
  }),
  plain(
    'Amazon SES',
    'hard',
    `An error occurred while trying to deliver the mail to the following recipients:
joe@dest.test

550 no such recipient here`,
    { from: 'MAILER-DAEMON@amazonses.com', subject: 'Delivery Status Notification (Failure)' },
  ),
  dsn('SendGrid', 'hard', {
    fields: `Final-Recipient: joe@dest.test
Action: failed
Diagnostic-Code: 550 Address unknown`,
  }),
  dsn('Facebook', 'soft', {
    fields: failed(
      '5.1.1',
      'smtp; 550 5.1.1 RCP-P2 http://postmaster.facebook.com/response_codes?ip=192.0.2.9#rcp Refused due to recipient preferences',
    ),
  }),
  dsn('Orange', 'hard', {
    fields: failed('5.5.0', "smtp; 550 5.5.0 Adresse d'au moins un destinataire invalide. OFR204_416"),
  }),
  dsn('Libero', 'hard', { fields: failed('5.0.0', 'smtp; 550 Casella inesistente joe@dest.test') }),
  dsn('UOL', 'hard', { fields: failed('5.0.0', 'smtp; 550 Usuario nao encontrado joe@dest.test') }),
  dsn('Terra', 'hard', { fields: failed('5.0.0', 'smtp; 550 El usuario no existe') }),
  dsn('Onet', 'hard', { fields: failed('5.0.0', 'smtp; 550 Brak takiego uzytkownika') }),
  dsn('Seznam', 'hard', { fields: failed('5.0.0', 'smtp; 550 Uzivatel neexistuje') }),
  html(
    'Naver',
    'hard',
    `<p>메일이 정상적으로 전송되지 못했습니다.</p><p>받는사람: joe@dest.test</p><p>수신자의 메일 주소가 존재하지 않습니다.</p>`,
    { from: 'postmaster@naver.com', subject: '[메일 전송 실패]' },
  ),
  html(
    'Daum',
    'soft',
    `<p>메일 발송에 실패했습니다.</p><p>받는사람: joe@dest.test</p><p>받는 사람의 메일함 용량이 초과되었습니다.</p>`,
    { from: 'postmaster@daum.net', subject: '메일 발송 실패' },
  ),
];
