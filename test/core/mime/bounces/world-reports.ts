import { type BounceCase, plain } from './bounce-case.ts';

/** Reports in plain text after what providers and servers say in public, and of rare systems. */
export const WORLD_REPORTS: readonly BounceCase[] = [
  plain(
    'Japanese provider, both languages',
    'hard',
    'This Message was undeliverable due to the following reason:\n\nEach of the following recipients was rejected by a remote mail server.\nThe reasons given by the server are included to help you determine why\neach recipient was rejected.\n\nRecipient: <joe@m.dest.test>\nReason: <joe@m.dest.test>...User unknown\n\nこのメールは以下の原因により届けることが出来ませんでした:\n受取人: <joe@m.dest.test>\n原因: <joe@m.dest.test> のユーザーは登録されていません',
    { from: 'Mail Administrator <Postmaster@dest.test>', subject: 'Mail System Error - Returned Mail' },
  ),
  plain(
    'OCN, Japanese preface',
    'hard',
    'This is the Postfix program at host mx.dest.test.\n\nThe following sentences are Japanese.\nこのメールと共に返信されているメールは一つ以上の宛先に対して配信できませんでした。\n\n<joe@dest.test>: unknown user: "joe"',
  ),
  plain(
    'Japanese provider, receiving limited',
    'soft',
    'お客様が送信されたメールは、受信者の設定により受信を拒否されたため、お届けできませんでした。\n\n宛先: joe@dest.test',
    { subject: '配信エラーのお知らせ' },
  ),
  plain(
    'qmail in Polish without accents, full',
    'soft',
    'Bardzo nam przykro jednakze nie udalo sie wyslac maila pod wskazane adresy.\nPrzyczyna wskazana jest ponizej:\n\n<joe@dest.test>:\nmaildrop: maildir over quota.\n\n--- Below this line is a copy of the message.',
    { subject: 'failure notice' },
  ),
  plain(
    'qmail in Polish without accents, unknown',
    'hard',
    'Bardzo nam przykro jednakze nie udalo sie wyslac maila pod wskazane adresy.\nPrzyczyna wskazana jest ponizej:\n\n<joe@dest.test>:\n192.0.2.7 does not like recipient.\nRemote host said: / Zdalny host odpowiedzial: 550 No Such User Here"\nGiving up on 192.0.2.7.',
    { subject: 'failure notice' },
  ),
  plain(
    'Seznam, two languages',
    'hard',
    "Vaše zpráva pro <joe@dest.test> ze dne 6.1.2026 nemohla být doručena.\nZpráva je přiložena.\n\nYou message for <joe@dest.test> from 2026/01/06 could not be delivered.\nIt's attached below.\n\nDůvod / Reason:\n---------------\n\n5.1.1 szn; User hasn't got the service mapped\n\nPermanentní chyba na straně uživatele.\nPermanent Failure - Bad destination mailbox address",
  ),
  plain(
    'daemon in French and English',
    'hard',
    "Ce message vous a été envoyé par le serveur de messagerie sur mx.dest.test.\n\nJ'ai le regret de vous informer que votre courrier n'a pas pu être transmis à\ntous ses destinataires.\n(Sorry, but your mail could not be delivered to all its recipients.)\n\n<joe@dest.test> : Destinataire local inconnu",
    { subject: 'Mail Delivery Failure Notice' },
  ),
  plain(
    'maddy, unknown',
    'hard',
    'This is the mail delivery system at mx.dest.test.\n\nUnfortunately, your message could not be delivered to one or more\nrecipients. The usual cause of this problem is invalid\nrecipient address or maintenance at the recipient side.\n\nContact the postmaster for further assistance.\n\nDelivery to the following recipient(s) failed permanently:\n\njoe@dest.test: 550 5.1.1 User does not exist',
  ),
  plain(
    'maddy, spam',
    'soft',
    'This is the mail delivery system at mx.dest.test.\n\nUnfortunately, your message could not be delivered to one or more\nrecipients. The usual cause of this problem is invalid\nrecipient address or maintenance at the recipient side.\n\nContact the postmaster for further assistance.\n\nDelivery to the following recipient(s) failed permanently:\n\njoe@dest.test: 554 5.7.1 Rejected by our rules',
  ),
  plain(
    'Stalwart',
    'hard',
    "Your message could not be delivered to the following recipients:\n\n<joe@dest.test> (host 'mx.dest.test' rejected command 'RCPT TO:<joe@dest.test>' with code 550 (5.1.1) 'Mailbox not found.')",
    { subject: 'Failed to deliver message' },
  ),
  plain(
    'Stalwart, delay',
    'delay',
    "There was a temporary problem delivering your message to the following recipients:\n\n<joe@dest.test> (connection to 'mx.dest.test' timed out)\n\nDelivery will be retried for three more days.",
    { subject: 'Warning: Delay in message delivery' },
  ),
  plain(
    'Courier, layout',
    'hard',
    'This is a delivery status notification from mx.dest.test,\nrunning the Courier mail server, version 0.73.\n\nThe original message was received on Tue, 06 Jan 2026 10:11:12 +0100\nfrom out.sender.test\n\n---------------------------------------------------------------------------\n\n                           UNDELIVERABLE MAIL\n\nYour message to the following recipients cannot be delivered:\n\n<joe@dest.test>:\n    mail.dest.test [192.0.2.7]:\n>>> RCPT TO:<joe@dest.test>\n<<< 550 User unknown.',
    { subject: 'NOTICE: mail delivery status.' },
  ),
  plain(
    'Courier, delayed',
    'delay',
    'This is a delivery status notification from mx.dest.test,\nrunning the Courier mail server.\n\n                        DELAYED MAIL\n\nYour message to the following recipients has not been delivered yet:\n\n<joe@dest.test>:\n    mail.dest.test [192.0.2.7]:\n<<< 451 Try again later.\n\nThe mail server will continue to attempt delivery.',
    { subject: 'NOTICE: mail delivery status.' },
  ),
  plain(
    'SmarterMail, domain full',
    'soft',
    'Could not deliver message to the following recipient(s):\n\nFailed Recipient: joe@dest.test\nReason: The domain size limit has been exceeded\n\n   -- The header and top 20 lines of the message follows --',
    { from: 'System Administrator <postmaster@dest.test>', subject: 'Delivery Failure' },
  ),
  plain(
    'SmarterMail, no records',
    'hard',
    "Could not deliver message to the following recipient(s):\n\nFailed Recipient: joe@dest.test\nReason: Failed to connect to the recipients mail server. No MX records were found for the 'dest.test' domain.",
    { from: 'System Administrator <postmaster@sender.test>', subject: 'Delivery Failure' },
  ),
  plain(
    'Haraka, some failed',
    'soft',
    "Hi. This is the Haraka Mailer program at mx.dest.test.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\nIntended Recipients: <joe@dest.test>\nFailure Reason: Error: Some recipients failed: <joe@dest.test>",
    { subject: 'failure notice' },
  ),
  plain(
    'Haraka, alias',
    'hard',
    "Hi. This is the Haraka Mailer program at mx.dest.test.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\nIntended Recipients: <joe@dest.test>\nFailure Reason: 550 unknown or illegal alias: joe@dest.test",
    { subject: 'failure notice' },
  ),
  plain(
    'Axigen',
    'hard',
    'The original message was received on Tue, 06 Jan 2026 10:11:12 +0100 from out.sender.test\n\nThe following recipients failed:\n\n  joe@dest.test\n     Local delivery failed: account joe was not found in domain dest.test',
    { from: 'Mail Delivery System <MAILER-DAEMON@dest.test>', subject: 'Delivery failure' },
  ),
  plain(
    'QQ, not opened',
    'hard',
    '您好，\n\n很抱歉，您的邮件未能送达以下收件人：\n\njoe@dest.test\n\n原因：该用户未开通邮箱\n\n请联系收件人确认。',
    { from: 'PostMaster@dest.test', subject: '系统退信/Systems bounce' },
  ),
  plain(
    'QQ, no room',
    'soft',
    '您好，\n\n很抱歉，您的邮件未能送达以下收件人：\n\njoe@dest.test\n\n原因：收件人空间不足',
    { from: 'PostMaster@dest.test', subject: '系统退信/Systems bounce' },
  ),
  plain(
    'Aliyun mail support',
    'hard',
    '退信说明：以下收件人地址不存在，投递失败\n\njoe@dest.test\n\n建议核对地址后重新发送。',
    {
      from: 'no-reply@mailsupport.dest.test',
      subject: '来自postmaster@dest.test的退信',
      header: 'Content-Language: zh\nX-Failed-Recipients: joe@dest.test\n',
    },
  ),
  plain('Chinese company, left', 'hard', '您发送给 joe@dest.test 的邮件已被退回。该员工已离职，邮箱已停用。', {
    subject: '邮件退回通知',
  }),
  plain(
    'Korean portal',
    'hard',
    '안녕하세요. 메일 발송에 실패하였습니다.\n\n받는 사람: joe@dest.test\n실패 사유: 존재하지 않는 메일 주소입니다. 주소를 다시 확인해 주세요.',
    { subject: '메일 발송 실패 안내' },
  ),
  plain(
    'Korean portal, dormant',
    'hard',
    '메일이 반송되었습니다.\n\n받는 사람: joe@dest.test\n반송 사유: 수신자의 계정이 탈퇴 처리되어 메일을 받을 수 없습니다.',
    { subject: '반송 안내' },
  ),
  plain(
    'Yandex, blocked mailbox',
    'soft',
    'Это письмо отправлено почтовым сервером.\n\nК сожалению, мы не смогли доставить ваше письмо адресату joe@dest.test: почтовый ящик заблокирован за неактивность.',
    { subject: 'Недоставленное сообщение' },
  ),
  plain(
    'Russian company, size',
    'soft',
    'Ваше письмо для joe@dest.test не доставлено.\nПричина: размер письма (32 МБ) превышает допустимый для получателя (20 МБ).',
    { subject: 'Ошибка доставки' },
  ),
  plain('Ukrainian host', 'hard', 'Лист не доставлено: joe@dest.test\nТакої поштової скриньки на сервері не існує.', {
    subject: 'Помилка доставки',
  }),
  plain(
    'Czech host, blocked network',
    'soft',
    'Zprávu pro joe@dest.test se nepodařilo doručit.\nServer příjemce odmítl spojení, protože IP adresa je na seznamu nevyžádané pošty.',
    { subject: 'Nedoručitelná zpráva' },
  ),
  plain(
    'Hungarian host, misspelled',
    'hard',
    'A levél nem kézbesíthető a következő címzettnek: joe@dest.test\nOk: ezen a kiszolgálón nincs ilyen nevű postafiók.',
    { subject: 'Kézbesítési hiba' },
  ),
  plain(
    'Romanian host',
    'hard',
    'Mesajul dumneavoastră către joe@dest.test nu a putut fi livrat.\nMotivul: această căsuță poștală a fost desființată.',
    { subject: 'Eroare la livrare' },
  ),
  plain(
    'Greek host',
    'hard',
    'Το μήνυμά σας προς joe@dest.test δεν παραδόθηκε.\nΑιτία: δεν υπάρχει τέτοιος χρήστης σε αυτόν τον διακομιστή.',
    { subject: 'Αποτυχία παράδοσης' },
  ),
  plain(
    'Turkish host, waiting',
    'delay',
    'joe@dest.test adresine gönderdiğiniz ileti henüz teslim edilemedi. Sunucumuz 48 saat boyunca denemeye devam edecek; iletiyi yeniden göndermeniz gerekmez.',
    { subject: 'İletiniz bekliyor' },
  ),
  plain('Hebrew host', 'hard', 'ההודעה שלך אל joe@dest.test לא נמסרה.\nהסיבה: אין משתמש כזה בשרת זה.', {
    subject: 'כשל במסירה',
  }),
  plain('Arabic host', 'hard', 'تعذر تسليم رسالتك إلى joe@dest.test\nالسبب: هذا الحساب لم يعد موجوداً.', {
    subject: 'فشل التسليم',
  }),
  plain(
    'Vietnamese host, full',
    'soft',
    'Thư gửi tới joe@dest.test không được chuyển đến.\nLý do: hộp thư của người nhận đã đầy.',
    { subject: 'Thư bị trả lại' },
  ),
  plain(
    'Indonesian host',
    'hard',
    'Pesan Anda kepada joe@dest.test tidak dapat dikirim karena alamat tersebut tidak terdaftar di server kami.',
    { subject: 'Pesan gagal terkirim' },
  ),
  plain('Thai host', 'hard', 'ไม่สามารถส่งข้อความของคุณถึง joe@dest.test ได้ เนื่องจากไม่มีบัญชีผู้ใช้นี้ในระบบ', {
    subject: 'ส่งไม่สำเร็จ',
  }),
  plain(
    'Danish host, employee',
    'hard',
    'Din mail til joe@dest.test blev ikke leveret. Joe Smith er ikke længere ansat her, og adressen er nedlagt.',
    { subject: 'Mail kunne ikke leveres' },
  ),
  plain(
    'Finnish host, rate',
    'soft',
    'Viestiäsi vastaanottajalle joe@dest.test ei toimitettu: lähettäjän palvelimelta on tullut liian monta viestiä tunnin aikana.',
    { subject: 'Viestiä ei toimitettu' },
  ),
  plain(
    'Norwegian host, domain',
    'hard',
    'Meldingen til joe@dest.test kunne ikke leveres. Domenet dest.test finnes ikke.',
    { subject: 'Leveringsfeil' },
  ),
  plain(
    'Catalan university',
    'hard',
    "El vostre missatge a joe@dest.test no s'ha pogut lliurar: aquest compte ja no és actiu perquè l'usuari ha deixat la universitat.",
    { subject: 'Missatge no lliurat' },
  ),
  plain(
    'a person asks about a bounce',
    'unknown',
    'Hi,\n\nmy reply to joe@sender.test came back undeliverable (550 5.1.1 user unknown). Which address should I use?\n\nAnn',
    { from: 'Ann <ann@dest.test>', subject: 'Re: Invoice 4711', header: 'In-Reply-To: <m1@sender.test>\n' },
  ),
  plain(
    'a colleague answers for someone who left',
    'unknown',
    'Hello,\n\nJoe has left us and his mailbox will be closed soon. I take over his invoices.\n\nAnn',
    { from: 'Ann <ann@dest.test>', subject: 'Re: Invoice 4711' },
  ),
  plain(
    'automatic reply with another address',
    'automatic-reply',
    'Thank you for your message. This mailbox is no longer read. Please write to sales@dest.test.',
    { from: 'joe@dest.test', subject: 'Automatic reply: Invoice 4711', header: 'Auto-Submitted: auto-replied\n' },
  ),
  plain('automatic reply in Norwegian', 'automatic-reply', 'Jeg er på ferie til 12. januar.', {
    from: 'joe@dest.test',
    subject: 'Automatisk svar: Faktura 4711',
  }),
  plain('subject only, Domino', 'hard', 'Your document could not be delivered.', {
    subject: 'DELIVERY FAILURE: User joe (joe@dest.test) not listed in Domino Directory',
    from: 'postmaster@dest.test',
  }),
  plain('subject only, Sendmail', 'hard', '   ----- Unsent message follows -----\nFrom: us', {
    subject: 'Returned mail: User unknown',
  }),
  plain('subject only, host', 'hard', 'See the attached message.', {
    subject: 'Returned mail: Host unknown (Name server: dest.test: host not found)',
  }),
  plain('subject only, full', 'soft', 'See the attached message.', { subject: 'Returned mail: Mailbox full' }),
  plain(
    'MMDF',
    'hard',
    'Your message was not delivered to joe@dest.test for the following reason:\n\n  No such user\n\nYour message follows:\n',
    { subject: 'Failed mail' },
  ),
  plain(
    'X.400',
    'hard',
    "Your message was not delivered to: joe@dest.test for the following reason:\n\nRecipient's Mailbox unavailable: unrecognised OR name\n",
    { subject: 'Delivery Report (failure) for joe@dest.test', from: 'postmaster@x400.dest.test' },
  ),
  plain(
    'IBM VM',
    'hard',
    'Your mail item could not be delivered to the following users. The mail header follows.\n\nUser unknown ---> JOE at DEST\n',
    { subject: 'Undelivered mail', from: 'SMTP@VM.dest.test' },
  ),
  plain('CompuServe', 'hard', 'Receiver not found: joe\n\nYour message could not be delivered as addressed.\n', {
    subject: 'Undeliverable Message',
    from: 'Electronic Postmaster <POSTMASTER@compuserve.test>',
  }),
  plain(
    'InterScan',
    'hard',
    '  Message from InterScan E-Mail VirusWall NT\n\n  ** No virus found in attached file\n\nSent >>> RCPT TO: <joe@dest.test>\nReceived <<< 550 joe@dest.test... No such user\n\nCould not deliver mail to this user.\njoe@dest.test\n****** End of message ******',
    { subject: 'Mail could not be delivered', from: 'NT VirusWall <postmaster@dest.test>' },
  ),
  plain(
    'LSMTP',
    'hard',
    '--> Error description:\nError-for:  joe@dest.test\nError-Code: 3\nError-Text: No such mailbox.\nError-End:\n',
    { subject: 'Undelivered mail', from: 'LSMTP <mailer-daemon@dest.test>' },
  ),
  plain(
    'Netscape',
    'hard',
    'This Message was undeliverable due to the following reason:\n\nOne or more of the recipients of your message did not receive it\nbecause they do not exist.\n\n<joe@dest.test>\n\nPlease reply to Postmaster@dest.test',
    { subject: 'Mail System Error - Returned Mail' },
  ),
  plain(
    'Netscape quota',
    'soft',
    'This Message was undeliverable due to the following reason:\n\nThe user(s) account is temporarily over quota.\n\n<joe@dest.test>\n',
    { subject: 'Mail System Error - Returned Mail' },
  ),
  plain(
    'Smail',
    'hard',
    '|------------------------- Message log follows: -------------------------|\n no valid recipients were found for this message\n|------------------------- Failed addresses follow: ---------------------|\n <joe@dest.test> ... unknown user\n|------------------------- Message text follows: ------------------------|\n',
    { subject: 'mail failed, returning to sender' },
  ),
  plain(
    'Yale',
    'hard',
    'Your message, with subject: Invoice\n\nwas not delivered to: joe\n\nNo such user in the directory',
    { subject: 'mail delivery failure' },
  ),
  plain(
    'TurboSport MDaemon',
    'hard',
    'The following addresses did NOT receive a copy of your message:\n\n> joe@dest.test\n\n--- Session Transcript ---\n<-- 550 Unknown user\n',
    { from: 'MDaemon@dest.test', subject: 'MDaemon Warning - Permanent Delivery Failure' },
  ),
  plain(
    'EYOU',
    'hard',
    "This is the deliver program at dest.test.\nI'm afraid I wasn't able to deliver your message to the following addresses.\n\njoe@dest.test: 550 user not found\n",
    { from: 'MAILER-DAEMON@dest.test', subject: 'Failure notice' },
  ),
  plain('Sina', 'hard', 'joe@sina.test\n  invalid user', {
    from: 'mailer-daemon@sina.test',
    subject: 'Undeliverable mail',
  }),
  plain(
    'FortiMail',
    'hard',
    'The following recipient could not be reached:\n\njoe@dest.test\nReason: Recipient verification: user does not exist',
    { from: 'FortiMail <postmaster@dest.test>' },
  ),
  plain('Comodo', 'hard', 'joe@dest.test: Unable to verify address - no such mailbox', {
    subject: 'Mail delivery failed',
  }),
  plain(
    'AWS WorkMail',
    'hard',
    'Your message to joe@dest.test was not delivered. 550 5.1.1 The recipient address is not provisioned: mailbox does not exist',
    { from: 'postmaster@amazonses.test' },
  ),
  plain(
    'French free',
    'hard',
    "Bonjour,\n\nVotre message n'a pas pu être délivré à joe@free.test : cette boîte n'existe pas.",
    { subject: 'Echec de livraison' },
  ),
  plain(
    'Spanish hosting',
    'hard',
    'El mensaje no pudo entregarse a joe@dest.test porque la casilla no existe en este servidor.',
    { subject: 'Mensaje devuelto' },
  ),
  plain(
    'Italian hosting',
    'hard',
    'Il messaggio non è stato consegnato a joe@dest.test: casella di posta inesistente.',
    { subject: 'Messaggio non consegnato' },
  ),
  plain('Polish hosting', 'hard', 'Wiadomość do joe@dest.test nie została doręczona: nie ma takiego konta.', {
    subject: 'Zwrot wiadomości',
  }),
  plain('Portuguese hosting', 'hard', 'A mensagem para joe@dest.test não foi entregue: a conta não existe.', {
    subject: 'Mensagem devolvida',
  }),
  plain(
    'Dutch hosting',
    'hard',
    'Uw bericht aan joe@dest.test kon niet worden afgeleverd: deze mailbox bestaat niet.',
    { subject: 'Bericht niet afgeleverd' },
  ),
  plain('Swedish hosting', 'hard', 'Meddelandet till joe@dest.test kunde inte levereras: kontot finns inte.', {
    subject: 'Kunde inte leverera',
  }),
  plain('Czech hosting', 'hard', 'Zprávu pro joe@dest.test se nepodařilo doručit: schránka neexistuje.', {
    subject: 'Nedoručitelná zpráva',
  }),
  plain(
    'Hungarian hosting',
    'hard',
    'A levelet nem sikerült kézbesíteni a joe@dest.test címre: nincs ilyen postafiók.',
    { subject: 'Kézbesítési hiba' },
  ),
  plain('Turkish hosting', 'hard', 'joe@dest.test adresine ileti gönderilemedi: böyle bir kullanıcı yok.', {
    subject: 'Teslim hatası',
  }),
  plain('Chinese host', 'hard', '您发往 joe@dest.test 的邮件被退回，原因：该用户不存在。', { subject: '退信通知' }),
  plain('Korean host', 'hard', 'joe@dest.test 님에게 보낸 메일이 반송되었습니다. 사유: 존재하지 않는 사용자입니다.', {
    subject: '메일 반송',
  }),
  plain(
    'quota French',
    'soft',
    "Votre message n'a pas pu être remis à joe@free.test : la boîte du destinataire a dépassé son quota.",
    { subject: 'Echec de livraison' },
  ),
  plain('quota Spanish', 'soft', 'El mensaje no pudo entregarse a joe@dest.test: el usuario ha excedido su cuota.', {
    subject: 'Mensaje devuelto',
  }),
  plain(
    'quota German',
    'soft',
    'Die Nachricht an joe@dest.test konnte nicht zugestellt werden: Das Postfach hat seine maximale Größe erreicht.',
    { subject: 'Unzustellbar' },
  ),
  plain('size', 'soft', 'joe@dest.test\n    message exceeds the maximum size of 10 MB', { subject: 'Undeliverable' }),
  plain(
    'spam',
    'soft',
    'joe@dest.test: 550 Message rejected because it looks like spam; the address does not exist in our white list',
    { subject: 'Undeliverable' },
  ),
  plain('blocked', 'soft', 'joe@dest.test: 554 Your server 192.0.2.1 is listed, no such reputation', {
    subject: 'Undeliverable',
  }),
  plain('sender', 'soft', 'joe@dest.test: 550 Sender <us@sender.test> does not exist, callout failed', {
    subject: 'Undeliverable',
  }),
  plain(
    'list member',
    'soft',
    'Your message to team@lists.dest.test was rejected: you are not a member of this list.',
    { subject: 'Message rejected' },
  ),
  plain('moderation', 'unknown', 'Your mail to team@lists.dest.test is being held until the moderator can review it.', {
    from: 'team-bounces@lists.dest.test',
    subject: 'Your message to Team awaits moderator approval',
  }),
  plain(
    'challenge',
    'unknown',
    'Please confirm that you are a person by clicking the link. Then your message is delivered to joe@dest.test.',
    { from: 'Joe <joe@dest.test>', subject: 'Please confirm your message' },
  ),
  plain('person', 'unknown', 'Hello, the address in your signature does not exist. Could you check?', {
    from: 'Joe <joe@dest.test>',
    subject: 'Your signature',
  }),
];
