import { type BounceCase, dsn, html, plain, withOriginal } from './bounce-case.ts';

const POSTMASTER = { from: 'postmaster@dest.test' };

/** Reports written after the templates of mail systems before any of them was read. */
export const FRESH_REPORTS: readonly BounceCase[] = [
  plain(
    'Exchange 5.5',
    'hard',
    'Your message\n\n  To:      joe@dest.test\n  Subject: Invoice 4711\n  Sent:    Tue, 6 Jan 2026 10:11:12 +0100\n\ndid not reach the following recipient(s):\n\njoe@dest.test on Tue, 6 Jan 2026 10:11:14 +0100\n    The recipient name is not recognized\n\tThe MTS-ID of the original message is: c=us;a= ;p=Dest;l=MAIL-260106101114Z-1234\n    MSEXCH:IMS:Dest:SITE:MAIL 0 (000C05A6) Unknown Recipient\n',
    { from: 'System Administrator <postmaster@dest.test>', subject: 'Undeliverable: Invoice 4711' },
  ),
  plain(
    'Exchange 5.5, size',
    'soft',
    'Your message\n\n  To:      joe@dest.test\n  Subject: Plans\n  Sent:    Tue, 6 Jan 2026 10:11:12 +0100\n\ndid not reach the following recipient(s):\n\njoe@dest.test on Tue, 6 Jan 2026 10:11:14 +0100\n    The message size exceeds the size limit that this recipient accepts\n    MSEXCH:MSExchangeMTA:Dest:MAIL\n',
    { from: 'System Administrator <postmaster@dest.test>', subject: 'Undeliverable: Plans' },
  ),
  dsn(
    'Exchange 2003, e-mail system unable',
    'hard',
    {
      text: 'This is an automatically generated Delivery Status Notification.\n\nDelivery to the following recipients failed.\n\n       joe@dest.test\n\nThe e-mail account does not exist at the organization this message was sent to.  Check the e-mail address, or contact the recipient directly to find out the correct address.\n            <mail.dest.test #5.1.1>',
      fields: 'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.1.1',
    },
    { ...POSTMASTER, subject: 'Delivery Status Notification (Failure)' },
  ),
  dsn(
    'Exchange 2019, hop count',
    'soft',
    {
      text: "Delivery has failed to these recipients or groups:\n\njoe@dest.test\nA problem occurred during the delivery of this message. The message was sent in a loop.\n\nRemote Server returned '554 5.4.14 Hop count exceeded - possible mail loop ATTR34'",
      fields:
        'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.4.14\nDiagnostic-Code: smtp;554 5.4.14 Hop count exceeded - possible mail loop ATTR34',
    },
    POSTMASTER,
  ),
  html(
    'Office 365, HTML alone',
    'hard',
    "<p>Your message to <b>joe@dest.test</b> couldn't be delivered.</p><p><b>joe</b> wasn't found at <b>dest.test</b>.</p><table><tr><td>us</td><td>Office 365</td><td>joe</td></tr><tr><td><b>Action Required</b></td><td></td><td>Recipient</td></tr><tr><td>Unknown To address</td></tr></table><p>How to Fix It<br>The address may be misspelled or may not exist.</p>",
    POSTMASTER,
  ),
  html(
    'Office 365, HTML alone, sender blocked',
    'soft',
    "<p>Your message to <b>joe@dest.test</b> couldn't be delivered.</p><p>dest.test suspects your message is spam and rejected it.</p><p>How to Fix It<br>Try to modify your message, or change how you're sending the message.</p>",
    POSTMASTER,
  ),
  dsn(
    'Office 365, group restricted',
    'soft',
    {
      text: "Your message wasn't delivered to team@dest.test because the group only accepts messages from people in its organization or on its allowed senders list.",
      fields:
        'Final-Recipient: rfc822;team@dest.test\nAction: failed\nStatus: 5.7.133\nDiagnostic-Code: smtp;550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required; Delivery restriction check failed because the sender was not authenticated when sending to this group',
    },
    POSTMASTER,
  ),
  dsn(
    'Office 365, delayed then expired',
    'soft',
    {
      text: "Your message to joe@dest.test couldn't be delivered.\n\nYour message expired before it could be delivered.",
      fields:
        'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.4.300\nDiagnostic-Code: smtp;550 5.4.300 Message expired -> 451 4.4.0 DNS query failed',
    },
    POSTMASTER,
  ),
  dsn(
    'Exchange Online, domain without records',
    'hard',
    {
      text: "Your message to joe@dest.test couldn't be delivered.\ndest.test couldn't be found.",
      fields:
        'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.4.310\nDiagnostic-Code: smtp;550 5.4.310 DNS domain dest.test does not exist [Message=InfoDomainNonexistent] [LastAttemptedServerName=dest.test]',
    },
    POSTMASTER,
  ),
  plain('Lotus Notes SMTP MTA 4', 'hard', 'User Joe Miller (joe@dest.test) not listed in public Name & Address Book', {
    from: 'Postmaster@dest.test',
    subject: 'DELIVERY FAILURE: User Joe Miller not listed in public Name & Address Book',
  }),
  plain(
    'Domino, document',
    'hard',
    'Your message\n\n  Subject: Invoice 4711\n\nwas not delivered to:\n\n  joe@dest.test\n\nbecause:\n\n  550 joe@dest.test... No such user\n',
    { from: 'Postmaster/DEST@dest.test', subject: 'DELIVERY FAILURE: 550 joe@dest.test... No such user' },
  ),
  plain(
    'Domino, route',
    'soft',
    'Your message\n\n  Subject: Invoice 4711\n\nwas not delivered to:\n\n  Joe Miller/Dest\n\nbecause:\n\n  No route found to server MAIL02/Dest from server HUB/Dest.  Check Server and Connection documents in Domino Directory.\n',
    { from: 'Mail Router/DEST@dest.test', subject: 'DELIVERY FAILURE: No route found to server MAIL02/Dest' },
  ),
  plain(
    'Domino, database gone',
    'hard',
    "Your message\n\n  Subject: Invoice 4711\n\nwas not delivered to:\n\n  joe@dest.test\n\nbecause:\n\n  Recipient's Mail File does not exist: mail\\jmiller.nsf\n",
    { ...POSTMASTER, subject: 'DELIVERY FAILURE: File does not exist' },
  ),
  plain(
    'Sendmail 8, procmail',
    'hard',
    'The original message was received at Tue, 6 Jan 2026 10:11:12 +0100\nfrom mail.sender.test [192.0.2.1]\n\n   ----- The following addresses had permanent fatal errors -----\njoe\n    (reason: No such user here)\n    (expanded from: <joe@dest.test>)\n\n   ----- Transcript of session follows -----\nmail.local: unknown name: joe\n550 5.1.1 joe... User unknown\n',
    { subject: 'Returned mail: see transcript for details' },
  ),
  plain(
    'Sendmail 8, deferred by name server',
    'delay',
    '    **********************************************\n    **      THIS IS A WARNING MESSAGE ONLY      **\n    **  YOU DO NOT NEED TO RESEND YOUR MESSAGE  **\n    **********************************************\n\nThe original message was received at Tue, 6 Jan 2026 06:11:12 +0100\n\n   ----- Transcript of session follows -----\n451 dest.test: Name server timeout\nWarning: message still undelivered after 4 hours\nWill keep trying until message is 5 days old\n',
    { subject: 'Warning: could not send message for past 4 hours' },
  ),
  plain(
    'Sendmail 5',
    'hard',
    '   ----- Transcript of session follows -----\nWhile talking to mail.dest.test:\n>>> RCPT To:<joe@dest.test>\n<<< 554 <joe@dest.test>... Unknown user\n554 <joe@dest.test>... Service unavailable\n\n   ----- Unsent message follows -----\nReceived: by sender.test\n',
    { subject: 'Returned mail: Service unavailable' },
  ),
  plain(
    'qmail, vpopmail',
    'hard',
    "Hi. This is the qmail-send program at mx.dest.test.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n<joe@dest.test>:\nSorry, no mailbox here by that name. vpopmail (#5.1.1)\n\n--- Below this line is a copy of the message.\n\nReturn-Path: <us@sender.test>\n",
    { subject: 'failure notice' },
  ),
  plain(
    'qmail, Spanish translation',
    'hard',
    'Hola. Este es el programa qmail-send en mx.dest.test.\nLo siento, no he podido entregar su mensaje a las siguientes direcciones.\nEste es un error permanente; me he dado por vencido.\n\n<joe@dest.test>:\nLo siento, no existe ningún buzón con ese nombre. (#5.1.1)\n\n--- Debajo de esta línea hay una copia del mensaje.\n',
    { subject: 'aviso de fallo' },
  ),
  plain(
    'qmail, connection died',
    'soft',
    "Hi. This is the qmail-send program at mx.dest.test.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n<joe@dest.test>:\nConnected to 192.0.2.7 but connection died. (#4.4.2)\nI'm not going to try again; this message has been in the queue too long.\n",
    { subject: 'failure notice' },
  ),
  plain(
    'Postfix, text only',
    'hard',
    "This is the mail system at host mx.dest.test.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\n<joe@dest.test>: host mail.dest.test[192.0.2.9] said: 550 Invalid recipient\n    <joe@dest.test> (Mode: normal) (in reply to RCPT TO command)\n",
  ),
  dsn('Postfix, virtual alias table', 'hard', {
    text: 'This is the mail system at host mx.dest.test.\n\n<joe@dest.test>: Recipient address rejected: User unknown in virtual alias table',
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.1.1\nRemote-MTA: dns; mail.dest.test\nDiagnostic-Code: smtp; 550 5.1.1 <joe@dest.test>: Recipient address rejected: User unknown in virtual alias table',
  }),
  dsn('Postfix, unverified recipient', 'hard', {
    text: "<joe@dest.test>: host mx.dest.test[192.0.2.9] said: 550 5.1.1 <joe@dest.test>: Recipient address rejected: undeliverable address: host lmtp said: 550 5.1.1 User doesn't exist (in reply to RCPT TO command)",
    fields:
      "Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 <joe@dest.test>: Recipient address rejected: undeliverable address: 550 5.1.1 User doesn't exist: joe@dest.test",
  }),
  dsn('Postfix, Dovecot quota', 'soft', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp; 552 5.2.2 <joe@dest.test> Quota exceeded (mailbox for user is full)',
  }),
  plain(
    'Exim, unrouteable',
    'hard',
    'This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  joe@dest.test\n    Unrouteable address\n\n------ This is a copy of the message, including all the headers. ------\n',
    { subject: 'Mail delivery failed: returning message to sender', header: 'X-Failed-Recipients: joe@dest.test\n' },
  ),
  plain(
    'Exim, German words of an operator',
    'hard',
    'This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  joe@dest.test\n    host mail.dest.test [192.0.2.3]\n    SMTP error from remote mail server after RCPT TO:<joe@dest.test>:\n    550 Diese Adresse gibt es bei uns nicht\n',
    { subject: 'Mail delivery failed: returning message to sender' },
  ),
  plain(
    'Exim, retry timeout',
    'soft',
    'This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  joe@dest.test\n    retry timeout exceeded\n',
    { subject: 'Mail delivery failed: returning message to sender' },
  ),
  plain(
    'Exim, frozen',
    'delay',
    'This message was created automatically by mail delivery software.\nA message that you sent has not yet been delivered to one or more of its\nrecipients after more than 24 hours on the queue on mx.dest.test.\n\nThe address to which the message has not yet been delivered is:\n\n  joe@dest.test\n    Delay reason: SMTP error from remote mail server after RCPT TO: 450 4.1.1 user unknown, try later\n\nNo action is required on your part. Delivery attempts will continue for\nsome time, and this warning may be repeated at intervals.\n',
    { subject: 'Warning: message 1tUabc-0001 delayed 24 hours' },
  ),
  dsn('PowerMTA, bad mailbox class', 'hard', {
    text: 'This message was created automatically by the mail system (ecelerity).\n\nA message that you sent could not be delivered to one or more of its recipients.',
    fields:
      'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.0.0 (undefined status)\nRemote-MTA: dns;mx.dest.test (192.0.2.4)\nDiagnostic-Code: smtp;550 <joe@dest.test> No such recipient\nX-PowerMTA-BounceCategory: bad-mailbox',
  }),
  dsn('PowerMTA, routing', 'soft', {
    fields:
      'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.4.4 (unable to route: no mail hosts for domain)\nX-PowerMTA-BounceCategory: routing-errors\nDiagnostic-Code: smtp;421 4.4.0 [internal] connection timed out',
  }),
  dsn('PowerMTA, no hosts', 'hard', {
    fields:
      'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.1.2 (bad destination system: no such domain)\nX-PowerMTA-BounceCategory: bad-domain',
  }),
  plain(
    'Verizon',
    'hard',
    'Error: "The following recipient(s) could not be reached"\n\nMessage from: <us@sender.test>\nSubject: Invoice 4711\n\nFailed recipients:\n  joe@dest.test: 550 4.2.1 mailbox temporarily disabled: unknown or illegal alias: joe@dest.test\n',
    { from: 'post_master@vzw.test', subject: 'Undeliverable Message' },
  ),
  plain(
    'Yahoo, account inactive',
    'hard',
    "Sorry, we were unable to deliver your message to the following address.\n\n<joe@dest.test>:\n554: delivery error: dd This user doesn't have a dest.test account (joe@dest.test) [-5] - mta1.dest.test\n\n--- Below this line is a copy of the message.\n",
    { from: 'MAILER-DAEMON@dest.test', subject: 'Failure Notice' },
  ),
  plain(
    'Yahoo, too fast',
    'soft',
    'Sorry, we were unable to deliver your message to the following address.\n\n<joe@dest.test>:\n421: 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to user complaints - 4.16.55.1\n',
    { from: 'MAILER-DAEMON@dest.test', subject: 'Failure Notice' },
  ),
  plain(
    'GMX',
    'hard',
    'This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of\nits recipients. This is a permanent error. The following address\nfailed:\n\njoe@dest.test:\nSMTP error from remote server for RCPT TO command, host: mx.dest.test (192.0.2.5) reason: 550 Requested action not taken: mailbox unavailable\n\n--- The header of the original message is following. ---\n',
    {
      from: '"GMX Mailer Daemon" <mailer-daemon@gmx.test>',
      subject: 'Mail delivery failed: returning message to sender',
    },
  ),
  plain(
    'GMX, full',
    'soft',
    'Diese Nachricht wurde automatisch erzeugt.\n\nIhre Nachricht konnte nicht zugestellt werden an:\n\njoe@dest.test:\nDas Postfach des Empfängers hat die zulässige Größe überschritten.\n',
    { from: 'GMX Mailer Daemon <mailer-daemon@gmx.test>', subject: 'Zustellung nicht möglich' },
  ),
  plain(
    'Gmail, address not found, old text',
    'hard',
    'Delivery to the following recipient failed permanently:\n\n     joe@dest.test\n\nTechnical details of permanent failure:\nGoogle tried to deliver your message, but it was rejected by the server for the recipient domain dest.test by mx.dest.test. [192.0.2.6].\n\nThe error that the other server returned was:\n550 5.1.1 <joe@dest.test>... User unknown\n\n\n----- Original message -----\n',
    {
      from: 'Mail Delivery Subsystem <mailer-daemon@googlemail.test>',
      subject: 'Delivery Status Notification (Failure)',
    },
  ),
  html(
    'Gmail, HTML alone, French',
    'hard',
    "<h2>Adresse introuvable</h2><p>Votre message n'est pas parvenu à <b>joe@dest.test</b>, car l'adresse est introuvable ou elle ne peut pas recevoir de messages.</p><p>La réponse du serveur distant est la suivante :</p><p>550 5.1.1 No such user</p>",
    {
      from: 'Mail Delivery Subsystem <mailer-daemon@googlemail.test>',
      subject: 'Delivery Status Notification (Failure)',
    },
  ),
  html(
    'Gmail, Italian, inbox full',
    'soft',
    '<h2>Posta in arrivo del destinatario piena</h2><p>Il tuo messaggio non è stato recapitato a <b>joe@dest.test</b>. La casella di posta è piena o riceve troppi messaggi al momento.</p>',
    {
      from: 'Mail Delivery Subsystem <mailer-daemon@googlemail.test>',
      subject: 'Delivery Status Notification (Failure)',
    },
  ),
  html(
    'Gmail, Portuguese, incomplete',
    'delay',
    '<h2>Entrega incompleta</h2><p>Houve um problema temporário na entrega da sua mensagem a <b>joe@dest.test</b>. O Gmail continuará tentando por mais 46 horas. Você será notificado se a entrega falhar permanentemente.</p>',
    {
      from: 'Mail Delivery Subsystem <mailer-daemon@googlemail.test>',
      subject: 'Delivery Status Notification (Delay)',
    },
  ),
  plain(
    'Amazon SES, text',
    'hard',
    "An error occurred while trying to deliver the mail to the following recipients:\njoe@dest.test\n\nThe following message to <joe@dest.test> was undeliverable.\nThe reason for the problem:\n5.1.0 - Unknown address error 550-'5.1.1 <joe@dest.test>: Email address could not be found, or was misspelled (G8)'\n",
    { from: 'MAILER-DAEMON@eu-west-1.amazonses.test', subject: 'Delivery Status Notification (Failure)' },
  ),
  dsn('Amazon SES, suppression list', 'soft', {
    text: 'An error occurred while trying to deliver the mail to the following recipients:\njoe@dest.test',
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nDiagnostic-Code: smtp; 554 5.7.1 Message rejected under suspicion of SPAM; https://support.dest.test\nAction: failed\nStatus: 5.7.1',
  }),
  plain(
    'Zoho',
    'hard',
    'This message was created automatically by mail delivery software.\nA message that you sent could not be delivered to one or more of its recipients. This is a permanent error.\n\njoe@dest.test, ERROR CODE :550 - 5.1.1 Email recipient does not exist in our system\n',
    { from: 'mailer-daemon@mail.zoho.test', subject: 'Undelivered Mail Returned to Sender' },
  ),
  plain(
    'Zoho, blocked',
    'soft',
    'This message was created automatically by mail delivery software.\n A message that you sent could not be delivered to one or more of its recipients. This is a permanent error.\n\njoe@dest.test, ERROR CODE :541 - Your mail has been blocked because the recipient has blocked the sender address.\n',
    { from: 'mailer-daemon@mail.zoho.test', subject: 'Undelivered Mail Returned to Sender' },
  ),
  plain(
    'Yandex, Russian',
    'hard',
    'Это письмо отправлено почтовым сервером yandex.test.\n\nК сожалению, мы вынуждены сообщить Вам о том, что Ваше письмо не может быть отправлено одному или нескольким адресатам. Технические подробности можно найти ниже.\n\nВозможные причины недоставки указаны по адресу: https://yandex.test/support/\n\nПожалуйста, не отвечайте на это сообщение.\n\n----\n\n<joe@dest.test>: host mx.dest.test[192.0.2.7] said: 550 5.7.1 No such user! (in reply to RCPT TO command)\n',
    { from: 'mailer-daemon@yandex.test', subject: 'Недоставленное сообщение' },
  ),
  plain(
    'Mail.ru',
    'hard',
    'Это письмо создано автоматически сервером Mail.ru, отвечать на него не нужно.\n\nК сожалению, Ваше письмо не может быть доставлено одному или нескольким получателям:\n\njoe@dest.test\nПользователя с таким адресом не существует\n\n**********************\n\nThis message was created automatically by mail delivery software.\n',
    { from: 'mailer-daemon@corp.mail.test', subject: 'Mail failure.' },
  ),
  plain(
    'Mail.ru, full',
    'soft',
    'Это письмо создано автоматически сервером Mail.ru, отвечать на него не нужно.\n\nК сожалению, Ваше письмо не может быть доставлено одному или нескольким получателям:\n\njoe@dest.test\nПревышен размер почтового ящика получателя\n',
    { from: 'mailer-daemon@corp.mail.test', subject: 'Mail failure.' },
  ),
  html(
    'QQ',
    'hard',
    '<div>抱歉，您的邮件被退回来了……</div><div>原邮件信息：时间 2026-1-6 10:11:12 主题 Invoice 收件人 joe@dest.test</div><div>退信原因：收件人邮件地址（joe@dest.test）不存在，邮件无法送达。</div><div>host mx.dest.test[192.0.2.1] said: 550 Mailbox not found</div>',
    { from: 'PostMaster@qq.test', subject: '系统退信' },
  ),
  html(
    '163',
    'hard',
    '<p>很抱歉，您发送的邮件被退回，以下是该邮件的相关信息：</p><p>被退回邮件 主题：Invoice 时间：2026-01-06 10:11:12</p><p>无法发送到 joe@dest.test</p><p>退信原因 收件人不存在 错误代码 User not found</p>',
    { from: 'Postmaster@163.test', subject: '系统退信' },
  ),
  html(
    '163, frequency',
    'soft',
    '<p>很抱歉，您发送的邮件被退回，以下是该邮件的相关信息：</p><p>无法发送到 joe@dest.test</p><p>退信原因：发信IP发送频率过高，请稍后再试</p>',
    { from: 'Postmaster@163.test', subject: '系统退信' },
  ),
  plain(
    'Aliyun',
    'hard',
    '您好，您的邮件未能成功投递。\n\n收件人：joe@dest.test\n失败原因：收件人地址错误，对方服务器上没有此用户\n',
    { from: 'postmaster@aliyun.test', subject: '退信通知' },
  ),
  plain(
    'Barracuda, unknown',
    'hard',
    'This message was created automatically by the mail system.\n\nYour message to joe@dest.test was rejected by the recipient gateway:\n\n550 permanent failure for one or more recipients (joe@dest.test:550 5.1.1 unknown address)\n',
    { ...POSTMASTER, subject: '**Message you sent blocked by our bulk email filter**' },
  ),
  plain(
    'Barracuda, bulk',
    'soft',
    'Your message to: joe@dest.test\nwas blocked by our Spam Firewall. The email you sent with the following subject has NOT BEEN DELIVERED:\n\nSubject: Invoice 4711\n\nAn explanation of why it was blocked: bulk email filter.\n',
    { ...POSTMASTER, subject: '**Message you sent blocked by our bulk email filter**' },
  ),
  dsn('Mimecast, directory', 'hard', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 Invalid Recipient - https://community.mimecast.test/docs/DOC-1369#550 [k3Z0bHx]',
  }),
  dsn('Mimecast, administrative block', 'soft', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 Administrative prohibition - envelope blocked - https://community.mimecast.test/docs/DOC-1369#550',
  }),
  dsn('Proofpoint Essentials', 'hard', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 Invalid recipient <joe@dest.test> (#5.1.1)',
  }),
  dsn('Proofpoint, block list', 'soft', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.7.0\nDiagnostic-Code: smtp; 554 5.7.0 Blocked - see https://ipcheck.proofpoint.test/?ip=192.0.2.1',
  }),
  dsn('OpenSMTPD', 'hard', {
    text: 'Hi!\n\nThis is the MAILER-DAEMON, please DO NOT REPLY to this email.\n\nAn error has occurred while attempting to deliver a message for\nthe following list of recipients:\n\njoe@dest.test: 550 Invalid recipient: <joe@dest.test>\n\nBelow is a copy of the original message:',
    fields: 'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0',
  }),
  dsn('OpenSMTPD, warning', 'delay', {
    text: 'Hi!\n\nThis is the MAILER-DAEMON, please DO NOT REPLY to this email.\n\nA message is delayed for more than 4 hours for the following\nlist of recipients:\n\njoe@dest.test: 421 Service not available\n\nPlease note that this is only a temporary failure report.',
    fields: 'Final-Recipient: rfc822; joe@dest.test\nAction: delayed\nStatus: 4.0.0',
  }),
  plain(
    'MDaemon',
    'hard',
    'MDaemon has identified your message as undeliverable to one or more recipients.\n\nThe following addresses had delivery problems:\n\njoe@dest.test\n  Permanent delivery failure: >>> RCPT To:<joe@dest.test> <<< 550 5.1.1 <joe@dest.test>, Recipient unknown\n',
    { from: 'MDaemon@dest.test', subject: 'Permanent Delivery Failure' },
  ),
  plain(
    'MDaemon, too big',
    'soft',
    'The attached message had PERMANENT delivery errors and will be returned.\n\njoe@dest.test\n  Message exceeds maximum message size allowed by the receiving server.\n',
    { from: 'MDaemon@dest.test', subject: 'Message size limit exceeded' },
  ),
  plain(
    'hMailServer',
    'hard',
    'Your message did not reach some or all of the intended recipients.\n\n   Sent: Tue, 6 Jan 2026 10:11:12 +0100\n   Subject: Invoice 4711\n\nThe following recipient(s) could not be reached:\n\njoe@dest.test\n   Error Type: SMTP\n   Remote server (192.0.2.5) issued an error.\n   hMailServer sent: RCPT TO:<joe@dest.test>\n   Remote server replied: 550 Unknown user\n\n\nhMailServer\n',
    { from: 'mailer-daemon@dest.test', subject: 'Message undeliverable: Invoice 4711' },
  ),
  plain(
    'hMailServer, connection',
    'soft',
    'Your message did not reach some or all of the intended recipients.\n\nThe following recipient(s) could not be reached:\n\njoe@dest.test\n   Error Type: SMTP\n   Connection to recipient server failed.\n   Error: Unable to connect to 192.0.2.5\n   Tried 4 time(s)\n\nhMailServer\n',
    { from: 'mailer-daemon@dest.test', subject: 'Message undeliverable: Invoice 4711' },
  ),
  plain(
    'Kerio Connect',
    'hard',
    'Your mail message to the following address(es) could not be delivered. This\nis a permanent error. Please verify the addresses and try again. If you are\nstill having difficulty sending mail to these addresses, please contact\nSystem Administrator for assistance.\n\n<joe@dest.test>\n\n   Remote server said: 550 5.1.1 Mailbox <joe@dest.test> does not exist\n',
    { ...POSTMASTER, subject: 'Delivery failure' },
  ),
  plain(
    'CommuniGate Pro',
    'hard',
    "Failed to deliver to '<joe@dest.test>'\nSMTP module(domain dest.test) reports:\n host mx.dest.test says:\n 550 5.1.1 unknown or illegal user: joe@dest.test\n",
    { from: '<MAILER-DAEMON@dest.test>', subject: 'Undeliverable mail: Invoice 4711' },
  ),
  plain(
    'CommuniGate Pro, local',
    'soft',
    "Failed to deliver to 'joe@dest.test'\nLOCAL module(account joe@dest.test) reports:\n account is full (quota exceeded)\n",
    { from: '<MAILER-DAEMON@dest.test>', subject: 'Undeliverable mail: Invoice 4711' },
  ),
  plain(
    'IceWarp',
    'hard',
    'The message could not be delivered to following recipient(s):\n\nRecipient: joe@dest.test\nReason: 550 5.1.1 <joe@dest.test> User unknown; rejecting\n\nIceWarp Mail Server\n',
    { ...POSTMASTER, subject: 'Delivery report' },
  ),
  plain(
    'GroupWise',
    'hard',
    'The message that you sent was undeliverable to the following:\n\tjoe (user not found)\n\nPossibly truncated original message follows:\n\nReceived: from mail.sender.test\n',
    { from: 'Mailer-Daemon@dest.test', subject: 'Message status - undeliverable' },
  ),
  plain(
    'GroupWise, account disabled',
    'soft',
    'The message that you sent was undeliverable to the following:\n\tjoe@dest.test (mailbox limit reached)\n',
    { from: 'Mailer-Daemon@dest.test', subject: 'Message status - undeliverable' },
  ),
  dsn('Zimbra, two recipients', 'hard', {
    text: '<joe@dest.test>: host mx said: 550 5.1.1 <joe@dest.test>: Recipient address rejected: dest.test\n\n<ann@dest.test>: host mx said: 452 4.2.2 Over quota',
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 <joe@dest.test>: Recipient address rejected: dest.test\n\nFinal-Recipient: rfc822; ann@dest.test\nAction: failed\nStatus: 4.2.2\nDiagnostic-Code: smtp; 452 4.2.2 Over quota',
  }),
  dsn('X.400 gateway', 'hard', {
    text: 'Your report is attached.',
    fields:
      'Final-Recipient: x400; /G=Joe/S=Miller/O=Dest/PRMD=Dest/ADMD=Atlas/C=FR/\nOriginal-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: x400; Reason 1 (Unable-To-Transfer), Diagnostic 0 (Unrecognised-ORName)',
  }),
  plain(
    'MAILsweeper',
    'soft',
    'MAILsweeper at dest.test has found that your message to joe@dest.test contains an attachment type that our policy does not allow. The message was not delivered.\n',
    { ...POSTMASTER, subject: 'Your mail was blocked' },
  ),
  plain(
    'Japanese provider',
    'hard',
    'このメールはシステムにより自動送信されています。\n\n送信されたメールは、以下の理由により配信できませんでした。\n\n宛先: joe@dest.test\n理由: 指定された宛先のメールアドレスは登録されていません。\n',
    { ...POSTMASTER, subject: 'メールを配信できませんでした' },
  ),
  plain(
    'Docomo',
    'hard',
    'The following address had permanent errors:\n\n<joe@docomo.test>\n550 Unknown user joe@docomo.test\n',
    { from: 'MAILER-DAEMON@docomo.test', subject: 'Returned mail: User unknown' },
  ),
  plain(
    'Italian certified mail',
    'soft',
    'Avviso di mancata consegna\n\nIl giorno 06/01/2026 alle ore 10:11:12 (+0100) nel messaggio "Fattura" proveniente da us@sender.test e destinato all\'utente joe@dest.test è stato rilevato un errore: la casella del destinatario ha superato lo spazio disponibile. Il messaggio è stato rifiutato dal sistema.\n',
    {
      from: 'posta-certificata@dest.test',
      subject: 'AVVISO DI MANCATA CONSEGNA: Fattura',
      header: 'Auto-Submitted: auto-generated\n',
    },
  ),
  plain(
    'Dutch provider',
    'hard',
    'Dit bericht is automatisch aangemaakt door de mailserver.\n\nHet bericht dat u heeft verstuurd kon niet worden afgeleverd bij:\n\n  joe@dest.test\n    Er is geen mailbox met deze naam op deze server\n',
    { subject: 'Bericht niet afgeleverd' },
  ),
  plain(
    'Polish provider',
    'hard',
    'Witaj,\n\nTwoja wiadomość nie mogła zostać doręczona do następujących odbiorców:\n\n<joe@dest.test>: nie ma takiego konta pocztowego\n',
    { subject: 'Zwrot niedoręczonej wiadomości' },
  ),
  plain(
    'French provider, full',
    'soft',
    "Votre message n'a pas pu être délivré au destinataire suivant :\n\n<joe@dest.test> : la boîte de réception du correspondant a atteint sa capacité maximale.\n",
    { subject: 'Message non délivré' },
  ),
  plain(
    'Portuguese provider',
    'hard',
    'Esta é uma mensagem automática do servidor.\n\nA sua mensagem não pôde ser entregue ao destinatário abaixo:\n\njoe@dest.test\nMotivo: não há caixa postal com este nome no servidor de destino\n',
    { subject: 'Mensagem devolvida ao remetente' },
  ),
  plain(
    'German company gateway',
    'hard',
    'Sehr geehrte Damen und Herren,\n\nIhre E-Mail an joe@dest.test konnte nicht ausgeliefert werden, da der Mitarbeiter das Unternehmen verlassen hat. Das Postfach wird nicht weitergeleitet.\n',
    { ...POSTMASTER, subject: 'Ihre E-Mail konnte nicht ausgeliefert werden' },
  ),
  plain(
    'German company gateway, attachment',
    'soft',
    'Ihre E-Mail an joe@dest.test wurde nicht zugestellt, weil sie einen Anhang mit einem verbotenen Dateityp (.exe) enthält.\n',
    { ...POSTMASTER, subject: 'E-Mail abgewiesen' },
  ),
  plain(
    'a person who cannot find a colleague',
    'unknown',
    'Hello,\n\nthe mail to joe that you mention was not delivered to us, and I do not know a user of that name. Who do you mean?\n\nAnn\n',
    {
      from: 'Ann <ann@dest.test>',
      subject: 'Re: Invoice 4711',
    },
  ),
  plain(
    'automatic reply of someone who left',
    'automatic-reply',
    'Joe no longer works here. His mailbox is not read. Please write to ann@dest.test.\n',
    {
      from: 'Joe <joe@dest.test>',
      subject: 'Automatic reply: Invoice 4711',
      header: 'Auto-Submitted: auto-replied\n',
    },
  ),
  withOriginal(
    'Novell NIMS',
    'hard',
    "Message could not be delivered to some recipients.\nThe following recipient(s) could not be reached:\n\n\tRecipient: [SMTP:joe@dest.test]\n\tReason:    Remote system didn't know the recipient\n",
    POSTMASTER,
  ),
  withOriginal(
    'Mercury',
    'hard',
    "The attached message could not be delivered to the following address(es):\n\n* joe@dest.test\n  Address refused by receiver: <joe@dest.test>, reason given was: '550 no such address'\n",
    { ...POSTMASTER, subject: 'Postmaster notify: delivery failure' },
  ),
  withOriginal(
    'SmarterMail',
    'soft',
    'Could not deliver message to the following recipient(s):\n\nFailed Recipient: joe@dest.test\nReason: Remote host said: 451 4.7.1 Greylisting in action, please come back later\nFinal status: giving up after 10 tries\n',
    { ...POSTMASTER, subject: 'Delivery Failure' },
  ),
  withOriginal(
    'SmarterMail, user',
    'hard',
    'Could not deliver message to the following recipient(s):\n\nFailed Recipient: joe@dest.test\nReason: Remote host said: 550 <joe@dest.test> No such user here\n',
    { ...POSTMASTER, subject: 'Delivery Failure' },
  ),
];
