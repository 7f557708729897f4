import { type BounceCase, dsn, html, plain, withOriginal } from './bounce-case.ts';

const NOTICE = { subject: 'Mail Delivery Failure Notice' };

/** Reports as the sources, manuals and help pages of their systems give them, written before any of them was read. */
export const PUBLISHED_REPORTS: readonly BounceCase[] = [
  plain(
    'Masqmail',
    'hard',
    'This message was sent to you by the mailer daemon (masqmail 0.2.21)\nat mx.dest.test.\n\nSorry, but your mail could not be delivered to all recipients.\nDelivery to the following recipients failed permanently and has been given\nup:\n\njoe@dest.test\n\nThis error message may give you a hint about what caused the\nfailure:\n\n550 5.1.1 User unknown\n\nIf you need help, write to <postmaster@mx.dest.test>.\n\nYour message follows below:',
    NOTICE,
  ),
  plain(
    'Masqmail in French',
    'hard',
    'Ce message vous a été envoyé par le serveur de messagerie\n(masqmail 0.2.21) sur mx.dest.test.\n\nJ’ai le regret de vous informer que votre courrier n’a pas pu être transmis à\ntous ses destinataires.\n\njoe@dest.test\n\nCe message d’erreur peut donner une indication:\n\nl’utilisateur joe est inconnu',
    NOTICE,
  ),
  plain(
    'Masqmail, waiting',
    'delay',
    'Ce message vous a été envoyé par le serveur de messagerie\n(masqmail 0.2.21) sur mx.dest.test.\n\nJ’ai le regret de vous informer que votre courrier n’a pas pu être transmis\nà tous ses destinataires. L’expédition vers les destinataires suivants est en attente depuis 4 heures :\n\njoe@dest.test\n\nIl n’est pas nécessaire de renvoyer votre message. D’autres tentatives auront lieu.',
    { subject: 'Attention: impossible d’envoyer un message' },
  ),
  plain(
    'SmarterMail, no MX',
    'hard',
    'Could not deliver message to the following recipient(s):\n\nFailed Recipient: joe@dest.test\nReason: Failed to connect to the recipients mail server. No MX records were found for the ‘dest.test’ domain.\n\n   -- The header and top 20 lines of the message follows --',
    { subject: 'Delivery Failure', from: 'System Administrator <system@mx.sender.test>' },
  ),
  plain(
    'SmarterMail, full',
    'soft',
    'Could not deliver message to the following recipient(s):\n\nFailed Recipient: joe@dest.test\nReason: The mailbox is full\n',
    { subject: 'Delivery Failure', from: 'System Administrator <system@mx.sender.test>' },
  ),
  plain(
    'SmarterMail, no user',
    'hard',
    'Could not deliver message to the following recipient(s):\n\nFailed Recipient: joe@dest.test\nReason: Remote host said: 550 <joe@dest.test> No such user here\n',
    { subject: 'Delivery Failure', from: 'System Administrator <system@mx.sender.test>' },
  ),
  plain(
    'hMailServer',
    'hard',
    'Your message did not reach some or all of the intended recipients.\n\n   Sent: Mon, 16 Jul 2012 19:17:22 +0100\n   Subject: Invoice 4711\n\nThe following recipient(s) could not be reached:\n\njoe@dest.test\n   Error Type: SMTP\n   Remote server (192.0.2.7) issued an error.\n   hMailServer sent: RCPT TO:<joe@dest.test>\n   Remote server replied: 550 5.1.1 mailbox for joe@dest.test is unknown\n\nhMailServer',
    { subject: 'Message undeliverable: Invoice 4711' },
  ),
  plain(
    'hMailServer, no answer',
    'soft',
    'Your message did not reach some or all of the intended recipients.\n\n   Sent: Mon, 16 Jul 2012 19:17:22 +0100\n   Subject: Invoice 4711\n\nThe following recipient(s) could not be reached:\n\njoe@dest.test\n   Error Type: SMTP\n   Connection to recipients server failed.\n   Error: Host name: 192.0.2.7, message: A connection attempt failed\n   Tried 4 time(s)\n\nhMailServer',
    { subject: 'Message undeliverable: Invoice 4711' },
  ),
  plain(
    'DTI, Japan',
    'hard',
    'This Message was undeliverable due to the following reason:\n\nEach of the following recipients was rejected by a remote mail server.\nThe reasons given by the server are included to help you determine why\neach recipient was rejected.\n\n    Recipient: <joe@dest.test>\n    Reason:    <joe@dest.test>... User unknown\n\nPlease reply to Postmaster@dest.test\nif you feel this message to be in error.',
    { subject: 'Mail System Error - Returned Mail', from: 'Mail Administrator <Postmaster@dest.test>' },
  ),
  plain(
    'DTI, in Japanese',
    'hard',
    'このメールは以下の原因により届けることが出来ませんでした:\n\n以下の受取人は、相手のメールサーバに拒否されました。\n以下のサーバーが返したエラーメッセージには、受取人が拒否された理由が\n含まれています。\n\n受取人: <joe@dest.test>\n原因:  <joe@dest.test> のユーザーは登録されていません',
    { subject: 'メールシステム誤り- 返されたメール', from: 'Mail Administrator <Postmaster@dest.test>' },
  ),
  plain(
    'Seznam',
    'hard',
    'Vaše zpráva pro <joe@dest.test> ze dne 19.11.2012 nemohla být doručena.\nZpráva je přiložena.\n\nYou message for <joe@dest.test> from 2012/11/19 could not be delivered.\nIt’s attached below.\n\nDůvod / Reason:\n---------------\n\n5.1.1 szn; User hasn’t got the service mapped\n\nPermanentní chyba na straně uživatele.\nPermanent Failure - Bad destination mailbox address',
    { subject: 'Nedorucena zprava / Undelivered message' },
  ),
  plain(
    'Kei.pl, full',
    'soft',
    'Bardzo nam przykro jednakze nie udalo sie wyslac maila pod wskazane adresy.\nPrzyczyna wskazana jest ponizej:\n\n<joe@dest.test>:\nmaildrop: maildir over quota.\n\n--- Below this line is a copy of the message.',
    { subject: 'failure notice' },
  ),
  plain(
    'Kei.pl, no user',
    'hard',
    'Bardzo nam przykro jednakze nie udalo sie wyslac maila pod wskazane adresy.\nPrzyczyna wskazana jest ponizej:\n\n<joe@dest.test>:\n192.0.2.7 does not like recipient.\nRemote host said: / Zdalny host odpowiedzial: 550 No Such User Here\nGiving up on 192.0.2.7.',
    { subject: 'failure notice' },
  ),
  plain(
    'Yahoo, today',
    'hard',
    'Sorry, we were unable to deliver your message to the following address.\n\n<joe@dest.test>:\n550: 5.1.1 The email account that you tried to reach does not exist.\n\n--- Below this line is a copy of the message.',
    { subject: 'Failure Notice', from: 'MAILER-DAEMON@yahoo.test' },
  ),
  plain(
    'Yahoo, in Italian',
    'hard',
    'Siamo spiacenti, non è stato possibile consegnare il messaggio al seguente indirizzo.\n\n<joe@dest.test>:\nNessun server MX o A trovato per questo dominio: il dominio non esiste',
    { subject: 'Failure Notice', from: 'MAILER-DAEMON@yahoo.test' },
  ),
  plain(
    '1&1, several languages',
    'hard',
    'This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of\nits recipients. This is a permanent error.\n\nThe following address failed:\n\njoe@dest.test:\nSMTP error from remote server for RCPT TO command, host: mx.dest.test (192.0.2.7) reason: 550 Requested action not taken: mailbox unavailable\n\n--- The header of the original message is following. ---',
    { subject: 'Mail delivery failed: returning message to sender' },
  ),
  plain(
    'Web.de',
    'soft',
    'Diese Nachricht wurde automatisch von der Mailsoftware erzeugt.\n\nEine von Ihnen versandte Nachricht konnte nicht zugestellt werden:\n\njoe@dest.test:\nBenutzer hat das Speichervolumen ueberschritten. / User has exhausted allowed storage space.',
    { subject: 'Mail delivery failed' },
  ),
  plain(
    'Netease',
    'hard',
    '抱歉，您的邮件被退回来了……\n\n原邮件信息：\n时间 2026-01-06 10:11:12\n主题 Invoice 4711\n收件人 joe@dest.test\n\n退信原因：\n收件人邮箱地址（joe@dest.test）不存在，邮件无法送达。\nSMTP error, RCPT TO: Host dest.test(192.0.2.7) said 550 User not found: joe@dest.test',
    { subject: '系统退信' },
  ),
  plain(
    'Netease, spam',
    'soft',
    '抱歉，您的邮件被退回来了……\n\n收件人 joe@dest.test\n\n退信原因：\n对方服务器认为您的邮件为垃圾邮件，拒绝接收。\nSMTP error, DOT: 554 DT:SPM',
    { subject: '系统退信' },
  ),
  html(
    'Tencent',
    'hard',
    '<div><p>抱歉，您的邮件被退回来了……</p><table><tr><td>收信人</td><td>joe@dest.test</td></tr><tr><td>退信原因</td><td>收件人邮件地址（joe@dest.test）不存在，邮件无法送达。</td></tr></table></div>',
    { subject: '来自 QQ 邮箱的退信', from: 'PostMaster@qq.test' },
  ),
  html(
    'Tencent, full',
    'soft',
    '<div><p>抱歉，您的邮件被退回来了……</p><table><tr><td>收信人</td><td>joe@dest.test</td></tr><tr><td>退信原因</td><td>收件人（joe@dest.test）邮箱空间不足，无法接收邮件。</td></tr></table></div>',
    { subject: '来自 QQ 邮箱的退信', from: 'PostMaster@qq.test' },
  ),
  plain(
    'Naver',
    'hard',
    '안녕하세요. 네이버 메일입니다.\n\n회원님이 보내신 메일이 아래와 같은 이유로 전송되지 못했습니다.\n\n받는사람 : joe@dest.test\n실패이유 : 받는 사람 메일주소가 존재하지 않습니다. (550 5.1.1 No such user)',
    { subject: '메일이 전송되지 못했습니다', from: 'MAILER-DAEMON@naver.test' },
  ),
  plain(
    'Daum',
    'soft',
    '메일 전송이 실패하였습니다.\n\n수신자: joe@dest.test\n사유: 상대방의 편지함 용량이 초과되어 메일을 받을 수 없습니다.',
    { subject: '[Daum] 메일 전송 실패 안내' },
  ),
  plain(
    'Mail.ru',
    'hard',
    'Это письмо создано автоматически сервером Mail.Ru, отвечать на него не нужно.\n\nК сожалению, Ваше письмо не может быть доставлено одному или нескольким получателям:\n\njoe@dest.test\n  Пользователь не найден.\n  SMTP error from remote mail server after RCPT TO: 550 no such user',
    { subject: 'Mail failure.' },
  ),
  plain(
    'Yandex, no host',
    'hard',
    'Это сообщение создано автоматически.\n\nНе удалось доставить письмо:\n\n<joe@dest.test>: Host or domain name not found. Name service error for name=dest.test type=A: Host not found',
    { subject: 'Недоставленное сообщение' },
  ),
  plain(
    'Ukr.net',
    'soft',
    'Ваш лист не було доставлено.\n\njoe@dest.test: скринька одержувача переповнена, спробуйте пізніше',
    { subject: 'Лист не доставлено' },
  ),
  plain(
    'Orange',
    'hard',
    'Bonjour,\n\nVotre message n’a pas pu être remis à un ou plusieurs destinataires.\n\n<joe@dest.test>: Adresse d au moins un destinataire invalide. Invalid recipient. OFR204_418 [418]',
    { subject: 'Message non remis / Undelivered mail' },
  ),
  plain(
    'La Poste',
    'hard',
    'Votre message n’a pu être distribué.\n\nDestinataire : joe@dest.test\nMotif : boîte aux lettres inexistante',
    { subject: 'Avis de non distribution', from: 'postmaster@dest.test' },
  ),
  plain(
    'Libero',
    'hard',
    'Il messaggio non è stato recapitato ai seguenti destinatari:\n\njoe@dest.test\n\nMotivo: BAD DESTINATION MAILBOX ADDRESS - USER UNKNOWN',
    { subject: 'Avviso di mancata consegna' },
  ),
  plain(
    'Aruba',
    'soft',
    'Non è stato possibile consegnare il messaggio al seguente indirizzo.\n\n<joe@dest.test>:\nuser is over quota',
    { subject: 'failure notice' },
  ),
  plain(
    'UOL',
    'hard',
    'A mensagem que você enviou não pôde ser entregue.\n\nDestinatário: joe@dest.test\nMotivo: usuário inexistente no domínio de destino.',
    { subject: 'Falha na entrega da mensagem' },
  ),
  plain(
    'Locaweb, waiting',
    'delay',
    'Sua mensagem ainda não foi entregue ao destinatário abaixo. Continuaremos tentando por mais 2 dias.\n\njoe@dest.test\n\nVocê não precisa reenviar a mensagem.',
    { subject: 'Aviso: mensagem em atraso' },
  ),
  plain(
    'Terra',
    'hard',
    'Su mensaje no pudo ser entregado a la siguiente dirección:\n\njoe@dest.test\n\nLa casilla de correo indicada no existe o fue dada de baja.',
    { subject: 'Mensaje no entregado' },
  ),
  plain(
    'Interia',
    'hard',
    'Państwa wiadomość nie mogła zostać dostarczona do adresata joe@dest.test.\n\nKonto, do którego próbujesz wysłać maila, nie istnieje.',
    { subject: 'Zwrot: wiadomość niedostarczona' },
  ),
  plain(
    'Freemail, Hungary',
    'hard',
    'Az Ön által küldött levelet nem tudtuk kézbesíteni az alábbi címre:\n\njoe@dest.test\n\nAz ok: a címzett postafiókja megszűnt.',
    { subject: 'Kézbesítési hiba' },
  ),
  plain('Abv', 'hard', 'Вашето писмо не беше доставено до joe@dest.test.\n\nПричина: няма такъв потребител.', {
    subject: 'Недоставено съобщение',
  }),
  plain(
    'Exchange 5.5',
    'hard',
    'Your message\n\n  To:      joe@dest.test\n  Subject: Invoice 4711\n  Sent:    Tue, 6 Jan 2026 10:11:12 +0100\n\ndid not reach the following recipient(s):\n\njoe@dest.test on Tue, 6 Jan 2026 10:11:30 +0100\n    The recipient name is not recognized\n\tThe MTS-ID of the original message is: c=de;a= ;p=dest;l=MX0102\n    MSEXCH:IMS:DEST:HQ:MX 0 (000C05A6) Unknown Recipient',
    { subject: 'Undeliverable: Invoice 4711', from: 'System Administrator <postmaster@dest.test>' },
  ),
  plain(
    'Exchange 5.5, access',
    'soft',
    'Your message\n\n  To:      joe@dest.test\n  Subject: Invoice 4711\n\ndid not reach the following recipient(s):\n\njoe@dest.test on Tue, 6 Jan 2026 10:11:30 +0100\n    You do not have permission to send to this recipient.  For assistance, contact your system administrator.\n    MSEXCH:IMS:DEST:HQ:MX 3550 (000B09B6) 550 5.7.1 Unable to relay for joe@dest.test',
    { subject: 'Undeliverable: Invoice 4711', from: 'System Administrator <postmaster@dest.test>' },
  ),
  plain(
    'Domino',
    'hard',
    'Your message\n\n  Subject: Invoice 4711\n\nwas not delivered to:\n\n  joe@dest.test\n\nbecause:\n\n  User joe (joe@dest.test) not listed in Domino Directory',
    {
      subject: 'DELIVERY FAILURE: User joe (joe@dest.test) not listed in Domino Directory',
      from: 'postmaster@dest.test',
    },
  ),
  plain(
    'Domino in German',
    'hard',
    'Ihre Mail\n\n  Thema: Invoice 4711\n\nkonnte nicht zugestellt werden an:\n\n  joe@dest.test\n\nGrund:\n\n  Benutzer joe (joe@dest.test) ist nicht im Domino-Verzeichnis aufgeführt',
    { subject: 'ZUSTELLFEHLER: Benutzer joe', from: 'postmaster@dest.test' },
  ),
  plain(
    'GroupWise',
    'hard',
    'The message that you sent was undeliverable to the following:\n\tjoe (user not found)\n\nPossibly truncated original message follows:',
    { subject: 'Message status - undeliverable', from: 'Mailer-Daemon@dest.test' },
  ),
  plain(
    'CommuniGate',
    'hard',
    'Failed to deliver to ’<joe@dest.test>’\nSMTP module(domain dest.test) reports:\n host mx.dest.test says:\n 550 joe@dest.test unknown user account\n',
    { subject: 'Undeliverable mail: Invoice 4711' },
  ),
  plain('IMail', 'hard', 'Unknown user: joe@dest.test\n\nOriginal message follows.\n\nReceived: from mx.sender.test', {
    subject: 'Undeliverable Mail',
    from: 'Postmaster <postmaster@mx.dest.test>',
  }),
  plain(
    'MailEnable',
    'hard',
    'MailEnable: Message could not be delivered to some recipients.\nThe following recipient(s) could not be reached:\n\n\tRecipient: [SMTP:joe@dest.test]\n\tReason: The message could not be delivered because the domain name (dest.test) does not appear to be registered.\n\nMessage headers follow:',
    { subject: 'Message Delivery Failure', from: 'Postmaster <postmaster@mx.sender.test>' },
  ),
  plain(
    'Mercury',
    'hard',
    'One or more addresses in your message have failed with the following\nresponses from the mail transport system:\n\n   joe@dest.test: Error type: 5.1.1 unknown local user\n\nThe body of your message follows.',
    { subject: 'Delivery failure notification', from: 'Electronic Postmaster <postmaster@dest.test>' },
  ),
  plain(
    'DBMail',
    'hard',
    'This is the DBMAIL-SMTP program.\n\nI’m sorry to inform you that your message, addressed to joe@dest.test,\ncould not be delivered due to the following error.\n\n*** E-mail address joe@dest.test is not known here. ***\n\nIf you think this message is incorrect please contact postmaster@dest.test.',
    { subject: 'DBMAIL: delivery failure' },
  ),
  dsn('Sympa', 'hard', {
    text: 'Impossible to distribute your message in list "team" for the following reason:\n\nThe list "team" is unknown: the list ’joe@dest.test’ does not exist.',
    fields: 'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.1.1\nRemote-MTA: dns; lists.dest.test',
  }),
  dsn('Dovecot, rejected by a rule', 'soft', {
    text: 'Your message to <joe@dest.test> was automatically rejected:\nThis mailbox takes only mail of known people.',
    fields: 'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.2.0',
  }),
  dsn('Exim, quota of a pipe', 'soft', {
    text: 'joe@dest.test\n    mailbox is full (MTA-imposed quota exceeded while writing to file /home/joe/mail/inbox)',
    fields: 'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0',
  }),
  dsn('a recipient without an address', 'hard', {
    fields: 'Final-Recipient: x-local; joe\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: x-unix; joe: unknown user',
  }),
  dsn('the recipient only in the text', 'hard', {
    text: 'Delivery to joe@dest.test failed: joe does not exist',
    fields: 'Action: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 joe does not exist',
  }),
  dsn('a person of a name', 'hard', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 joe not found',
  }),
  dsn('a boundary of a name', 'soft', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 boundary not found',
  }),
  withOriginal(
    'ImprovMX',
    'hard',
    'Hi there,\n\nWe could not deliver your email to joe@dest.test, because this alias does not exist.\n',
    { from: 'Mail Delivery System <no-reply@improvmx.test>', subject: 'Your email could not be delivered' },
  ),
  withOriginal(
    'a gateway with a note',
    'soft',
    'Your message to joe@dest.test was blocked by our gateway because of the file invoice.exe.\nThe file type is not permitted for this user.',
    { subject: 'Message blocked' },
  ),
  plain(
    'iCloud, full',
    'soft',
    'Your message could not be delivered.\n\njoe@dest.test\n552 5.2.2 <joe@dest.test>: user is over quota\n',
    { subject: 'Undeliverable' },
  ),
  plain(
    'a person whose colleague left',
    'unknown',
    'Hi,\n\nJoe no longer works here, so please write to me instead.\n\nAnn',
    {
      from: 'Ann <ann@dest.test>',
      subject: 'Re: Invoice 4711',
    },
  ),
  plain(
    'a person who asks about a bounce',
    'unknown',
    'Hello,\n\nI wrote to sales@sender.test and got "550 5.1.1 user unknown". Is the address right?\n\nJoe',
    { from: 'Joe <joe@dest.test>', subject: 'Undeliverable mail to your sales address' },
  ),
  plain(
    'a program that says that someone left',
    'automatic-reply',
    'Joe has left the company. Please write to ann@dest.test.\nThis is an automatic reply; your message was not forwarded.',
    { from: 'Joe <joe@dest.test>', subject: 'Automatic reply: Invoice 4711', header: 'Auto-Submitted: auto-replied\n' },
  ),
  plain(
    'further a',
    'hard',
    'Dear sender,\n\nthe mailbox joe@dest.test, to which you wrote, does not exist (any more).\n\nYour mail was not read.',
  ),
  plain(
    'further c',
    'soft',
    'Delivery has failed to these recipients or groups:\n\njoe@dest.test\nYour message wasn’t delivered because the recipient’s email provider rejected it.',
    { subject: 'Undeliverable: Hello' },
  ),
  plain(
    'further d',
    'hard',
    'Ihre E-Mail vom 06.01.2026 konnte nicht zugestellt werden.\n\nEmpfänger: joe@dest.test\nGrund: Die angegebene E-Mail-Adresse ist nicht vergeben.',
    { subject: 'Zustellung fehlgeschlagen' },
  ),
  plain(
    'further e',
    'soft',
    'Ihre E-Mail konnte nicht zugestellt werden.\n\nEmpfänger: joe@dest.test\nGrund: Das Postfach ist vorübergehend gesperrt.',
    { subject: 'Zustellung fehlgeschlagen' },
  ),
  plain(
    'further f',
    'delay',
    'Ihre Nachricht an joe@dest.test konnte seit 4 Stunden nicht zugestellt werden. Wir versuchen es weiter.',
    { subject: 'Zustellung verzögert' },
  ),
  plain('further g', 'hard', 'Votre courriel à joe@dest.test nous revient : ce compte a été supprimé.', {
    subject: 'Courriel non distribué',
  }),
  plain('further h', 'soft', 'Votre courriel à joe@dest.test a été refusé : pièce jointe interdite.', {
    subject: 'Courriel refusé',
  }),
  plain('further i', 'hard', 'No hemos podido entregar su mensaje a joe@dest.test.\nMotivo: cuenta inexistente.', {
    subject: 'Entrega fallida',
  }),
  plain('further j', 'hard', 'Impossibile consegnare il messaggio a joe@dest.test: l’account è stato chiuso.', {
    subject: 'Consegna fallita',
  }),
  plain('further k', 'soft', 'Não foi possível entregar a mensagem a joe@dest.test: caixa de entrada lotada.', {
    subject: 'Mensagem não entregue',
  }),
  plain('further l', 'hard', 'Uw bericht aan joe@dest.test is niet bezorgd. Reden: het account is verwijderd.', {
    subject: 'Niet bezorgd',
  }),
  plain('further m', 'hard', 'Wiadomość do joe@dest.test została zwrócona. Przyczyna: nieznany odbiorca.', {
    subject: 'Wiadomość niedoręczona',
  }),
  plain('further n', 'hard', 'Ваше письмо для joe@dest.test вернулось. Причина: ящик удалён.', {
    subject: 'Письмо не доставлено',
  }),
  plain('further o', 'soft', 'Ваше письмо для joe@dest.test отклонено: похоже на спам.', {
    subject: 'Письмо не доставлено',
  }),
  plain('further p', 'hard', 'joe@dest.test 宛のメールは配信できませんでした。\n理由：宛先のアドレスが存在しません。', {
    subject: '配信エラー',
  }),
  plain(
    'further q',
    'soft',
    'joe@dest.test 宛のメールは配信できませんでした。\n理由：受信者のメールボックスがいっぱいです。',
    { subject: '配信エラー' },
  ),
  plain('further r', 'hard', '您给 joe@dest.test 的邮件无法投递。原因：没有该用户。', { subject: '投递失败' }),
  plain('further s', 'hard', 'joe@dest.test 님께 보낸 메일이 반송되었습니다.\n사유: 없는 계정입니다.', {
    subject: '메일 반송 안내',
  }),
  plain('further t', 'hard', 'Meddelandet till joe@dest.test kunde inte levereras. Orsak: adressen är okänd.', {
    subject: 'Ej levererat',
  }),
  plain('further u', 'hard', 'Zprávu pro joe@dest.test nelze doručit. Důvod: neznámý uživatel.', {
    subject: 'Nedoručeno',
  }),
  html(
    'further v',
    'hard',
    '<h1>Address not found</h1><p>Your message wasn’t delivered to <b>joe@dest.test</b> because the address couldn’t be found, or is unable to receive mail.</p>',
    {
      from: 'Mail Delivery Subsystem <mailer-daemon@googlemail.test>',
      subject: 'Delivery Status Notification (Failure)',
    },
  ),
  html(
    'further w',
    'soft',
    '<p>Message blocked</p><p>Your message to <b>joe@dest.test</b> has been blocked. See technical details below.</p><p>The response was: 550 5.7.1 Our system has detected that this message is likely unsolicited mail.</p>',
    { subject: 'Delivery Status Notification (Failure)' },
  ),
  dsn('further x', 'hard', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: X-Notes; Der Benutzer joe ist im Adressbuch nicht aufgeführt',
  }),
  dsn('further y', 'soft', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 No relay for unknown hosts like yours',
  }),
  withOriginal('further z', 'hard', 'Sorry, joe@dest.test left us in May and has no mailbox any more.', {
    from: 'Postmaster <postmaster@dest.test>',
    subject: 'Returned mail',
  }),
  plain(
    'further aa',
    'unknown',
    'Hi,\n\nyour colleague’s address joe@sender.test does not exist, my mail came back. Who should I ask?',
    { from: 'Eve <eve@dest.test>', subject: 'Mail to Joe came back' },
  ),
  plain('further ab', 'unknown', 'The parcel could not be delivered: recipient unknown at this address.', {
    from: 'Parcels <info@parcels.test>',
    subject: 'Your parcel',
  }),
];
