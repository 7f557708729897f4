import { type BounceCase, dsn, html, type Outcome, plain, withOriginal } from './bounce-case.ts';

/** Returns a report whose machine-readable part has the server's reply and no status that says anything. */
function reply(system: string, outcome: Outcome, said: string): BounceCase {
  return dsn(system, outcome, {
    text: `<joe@dest.test>: host mx.dest.test[192.0.2.7] said: ${said}`,
    fields: `Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0\nRemote-MTA: dns; mx.dest.test\nDiagnostic-Code: smtp; ${said}`,
  });
}

/** Reports that were written after what providers and servers say in public, before any of them was read. */
export const WORLD_REPORTS: readonly BounceCase[] = [
  // Replies of providers.
  reply('WP, two languages', 'hard', '550 5.1.1 Podane konto nie istnieje / No mailbox here by that name'),
  reply(
    'WP, locked by its administration',
    'soft',
    '550 5.2.1 Podane konto jest zablokowane administracyjnie lub nieaktywne / This account is disabled or not yet active',
  ),
  reply('Interia', 'hard', '550 5.1.1 Account not found / Nie ma takiego konta'),
  reply('Interia, not wanted', 'soft', "550 5.7.1 Recipient doesn't want your mail"),
  reply('Tiscali', 'hard', '550 5.1.1 joe Siamo spiacenti, non esiste nessun utente con questo nome'),
  reply('Italian host, no such address', 'hard', '550 Questo indirizzo non esiste'),
  reply('long inactivity', 'soft', '550 Mailbox is blocked due to long-time inactivity'),
  reply(
    'Mail.ru, terminated',
    'hard',
    '550 Message was not accepted -- invalid mailbox.  Local mailbox joe@dest.test is unavailable: user is terminated',
  ),
  reply('vpopmail, locked', 'soft', 'vdelivermail: account is locked email bounced'),
  reply('recipient disabled', 'soft', '550 5.1.1 joe@dest.test recipient disabled'),
  reply('deactivated mailbox', 'soft', '551 joe@dest.test is a deactivated mailbox'),
  reply('no redirect entry', 'hard', '521 No Redirect Entry for this address'),
  reply('Yahoo, invalid mailbox', 'hard', '554 delivery error: dd Requested mail action aborted, mailbox invalid'),
  reply(
    'Facebook',
    'hard',
    '550 5.1.1 RCP-P1 http://postmaster.dest.test/response_codes?ip=192.0.2.1#rcp Recipient address does not exist',
  ),
  reply('CommuniGate, receiving disabled', 'hard', '550 joe@dest.test mail receiving disabled, rejecting'),
  reply('mailbox locked', 'soft', '550 5.1.1 <joe@dest.test> recipient rejected (mailbox locked)'),
  reply('Comcast, closed', 'hard', '550 5.1.1 Account Closed, Please Remove'),
  reply('Comcast, not a customer', 'hard', '550 5.1.1 Not our Customer'),
  reply(
    'deleted by its user',
    'hard',
    '540 5.7.1 <joe@dest.test>: Recipient address rejected: Account deleted by user',
  ),
  reply(
    'suspended recipient',
    'soft',
    "540 5.7.1 <joe@dest.test>: Recipient address rejected: Your emails has been returned because the intented recipient's email account has been suspended. The account must be re-activated to receive incoming messages",
  ),
  reply(
    'locked by an abuse team',
    'soft',
    '540 5.7.1 <joe@dest.test>: Recipient address rejected: Account locked by abuse team',
  ),
  reply(
    'POP before SMTP',
    'soft',
    '554 <joe@dest.test>: Relay access denied (maybe you need to check mail via POP3 first)',
  ),
  reply('unknown user in quotes', 'hard', '550 "Unknown user for this domain"'),
  reply('Error 60', 'hard', '550 "Error 60: No mailbox"'),
  reply('SiteGround', 'hard', '550 SITEGROUND: No Such mailbox here'),
  reply('no such person', 'hard', '550 No such person at this address'),
  reply('mail refused, address', 'hard', '550 5.1.1 Mail Refused - Address <joe@dest.test> Recipient Unknown'),
  reply('mail refused, network', 'soft', '550 5.7.1 Mail Refused - IP Address [192.0.2.1] Blacklisted'),
  reply('Outblaze', 'soft', '550 mail from us@sender.test is refused. See http://spamblock.outblaze.test/192.0.2.1'),
  reply(
    'mailbox unavailable for a listed network',
    'soft',
    '550 5.7.1 Mailbox unavailable. Your IP address 192.0.2.1 is blacklisted using zen.spamhaus.test',
  ),
  reply(
    'GMX, policy in two lines',
    'soft',
    '550-Requested action not taken: mailbox unavailable 550-Reject due to policy restrictions. 550 For explanation visit https://postmaster.dest.test/en/case?c=r0601',
  ),
  reply('policy of the target', 'soft', '550 5.7.1 Policy rejection on the target address'),
  reply(
    'held for a human',
    'soft',
    '550 Message held for human verification before permitting delivery. For help, please quote incident ID 4711',
  ),
  reply('too many unknown recipients', 'soft', '554 Too many unknown RCPT TO addresses from host 192.0.2.1'),
  reply('country', 'soft', '550 Not allowed to send from that country'),
  reply('temporarily inactive', 'soft', '550 Recipient Rejected: Temporarily inactive'),
  reply(
    'disk full, Italian',
    'soft',
    '421 4.3.2 Service shutting down, Error writing to mail file: Spazio esaurito sul device at /var/mail',
  ),
  reply('Naver, suspended', 'soft', '550 5.2.1 RSUS 192.0.2.1: Suspended user: joe@dest.test'),
  reply('Naver, unknown', 'hard', '550 5.1.1 RUSR 192.0.2.1: No such user: <joe@dest.test>'),
  reply(
    'Paran',
    'soft',
    "5.1.0 - Unknown address error 550-'Transaction failed. (SPAM_SUSPECT:IP_CONTROL) (http://cleanip.dest.test)'",
  ),
  reply(
    'IronPort, invalid or inactive',
    'soft',
    "5.1.0 - Unknown address error 553-'Invalid/inactive user.' (delivery attempts: 0)",
  ),
  reply('reject list of a user', 'soft', "550 You are registered as spammer (by user's reject list)"),
  reply('denied by a filter', 'soft', '554 5.0.0 Service unavailable (joe: mail is denied, by spam filter)'),
  reply('Korean provider, inactive', 'soft', '550 5.1.1 <joe@dest.test>... Inactive mbox'),
  reply(
    'too many within 24 hours',
    'soft',
    '550 5.7.1 <joe@dest.test>... Error. your access was denied. Since you sent too many e-mails, you are not allowed to send more e-mails within 24 hours.',
  ),
  reply('chkuser, full', 'soft', '552 5.1.1 5.2.2 sorry, final recipient mailbox is full (chkuser)'),
  reply('sender on a list of the recipient', 'soft', '550 5.1.1 <us@sender.test> sender is blacklisted'),
  reply('SPF beside 5.1.0', 'soft', '550 5.1.0 0bcW1i00G0jifNx01 blocked by SPF'),
  reply('Coremail, sender network', 'soft', '554 IP<192.0.2.1> is hangup'),
  reply('Coremail, suspended', 'soft', '550 User suspended: joe@dest.test'),
  reply('pseudo list', 'soft', '550 Recipient not on bypass list, your IP has been found on a block list'),
  reply('mailbox suspended', 'soft', '550 5.2.1 <joe@dest.test>: Recipient address rejected: Mailbox is suspended'),
  reply('not here', 'hard', '550 5.1.1 Recipient does not exist here'),
  reply(
    'verified by another server',
    'hard',
    '550 5.1.1 <joe@dest.test>: Recipient address rejected: undeliverable address: unknown user: "joe"',
  ),
  reply('Cloudflare', 'hard', '550 5.1.1 Address does not exist. 1a2b3c4d5e'),
  reply(
    'Cloudflare, upstream',
    'soft',
    '521 5.3.0 Upstream error, please check https://dest.test/troubleshooting for possible reasons why. 1a2b3c',
  ),
  reply('SimpleLogin', 'hard', '550 SL E515 Email not exist'),
  reply('ImprovMX', 'hard', "550 5.1.1 We couldn't find the alias joe on dest.test"),
  reply('DuckDuckGo', 'soft', '550 Message denied'),
  reply(
    'Mimecast, poor reputation',
    'soft',
    '550 csi.dest.test Poor Reputation Sender. - https://community.dest.test/docs/DOC-1369#550',
  ),
  reply('Mimecast, blocked senders', 'soft', '550 Rejected by header based manually Blocked Senders: us@sender.test'),
  reply(
    'Proofpoint, profile',
    'soft',
    '554 5.7.1 The message from (<us@sender.test>) with the subject of (Invoice 4711) matches a profile the Internet community may consider spam. Please revise your message before resending.',
  ),
  reply(
    'Barracuda, one of several',
    'hard',
    '550 permanent failure for one or more recipients (joe@dest.test:550 5.1.1 User unknown)',
  ),
  reply('Barracuda, blocked', 'soft', '550 permanent failure for one or more recipients (joe@dest.test:blocked)'),
  reply(
    'IronPort, access',
    'soft',
    '550 #5.7.1 Your access to submit messages to this e-mail system has been rejected.',
  ),
  reply('Mailgun, records', 'hard', '498 No MX for dest.test'),
  reply(
    'Gmail, NXDOMAIN',
    'hard',
    "DNS Error: DNS type 'mx' lookup of dest.test responded with code NXDOMAIN Domain name not found: dest.test",
  ),
  reply(
    'Postfix, try again',
    'soft',
    'Host or domain name not found. Name service error for name=dest.test type=MX: Host not found, try again',
  ),
  reply('registrar', 'hard', '550 5.1.2 The domain dest.test has expired and is no longer registered'),
  reply(
    'Orange, invalid',
    'hard',
    '550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. OFR_416 [416]',
  ),
  reply('Orange, archived', 'hard', '550 5.5.0 Boite du destinataire archivee. Archived recipient. OFR_420 [420]'),
  reply('Orange, later', 'soft', '421 Veuillez essayer plus tard. Service refused, please try later. OFR004_104 [104]'),
  reply('SFR', 'hard', '550 5.1.1 <joe@dest.test>: Adresse destinataire inexistante chez nous'),
  reply('tenant', 'hard', '556 Invalid account. Tenant or Domain not found'),
  reply(
    'authenticated senders only',
    'soft',
    '550 5.7.1 RESOLVER.RST.AuthRequired; authentication required; Delivery restriction check failed because the sender was not authenticated when sending to this group',
  ),
  reply(
    'banned network of Microsoft',
    'soft',
    '550 5.7.606 Access denied, banned sending IP [203.0.113.7]. To request removal from this list please visit https://sender.dest.test/',
  ),
  reply(
    'Exchange Online, store',
    'soft',
    '550 5.2.0 STOREDRV.Deliver.Exception:ConversionFailedException; Failed to process message due to a permanent exception',
  ),
  reply(
    'Exchange Online, thread limit',
    'soft',
    '554 5.2.0 STOREDRV.Deliver; delivery result banner: recipient thread limit exceeded',
  ),
  reply(
    'reply beside an earlier one',
    'hard',
    '550-Verification failed for <joe@dest.test> 550-Response: 450 4.1.1 Recipient address rejected 550 5.1.1 Recipient verify failed',
  ),

  // Refusals of a person's choice and of policy, with words that unknown users have, too.
  reply('unknown senders, English', 'soft', '550 User joe does not accept mail from unknown senders'),
  reply('unknown senders, German', 'soft', '550 Der Empfänger nimmt keine Nachrichten von unbekannten Absendern an'),
  reply('unknown senders, Spanish', 'soft', '550 El destinatario no acepta correos de remitentes desconocidos'),
  reply('unknown senders, French', 'soft', "550 Le destinataire n'accepte pas les messages d'expéditeurs inconnus"),
  reply('unknown senders, Polish', 'soft', '550 Odbiorca nie przyjmuje wiadomości od nieznanych nadawców'),
  reply('unknown senders, Chinese', 'soft', '550 收件人设置了拒收陌生人来信'),
  reply('unknown senders, Portuguese', 'soft', '550 O destinatário não aceita mensagens de remetentes desconhecidos'),
  reply('unknown attachment', 'soft', '554 The recipient rejects attachments of an unknown type'),
  reply('sender without records', 'soft', '550 5.7.1 Domain of <us@sender.test> has no MX record'),
  reply('HELO not in DNS', 'soft', '550 5.7.1 The name that your server used in HELO does not exist in DNS'),
  reply('no account to send with', 'soft', '550 5.7.1 You need a valid account to send to this recipient'),
  reply('full, not unknown', 'soft', '550 5.2.2 The recipient exists, but there is no room left in the mailbox'),
  reply('no such header', 'soft', '550 5.6.0 Message rejected: there is no valid Date header'),

  // Reports in plain text.
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
  dsn('maddy, expired', 'soft', {
    text: 'This is the mail delivery system at mx.dest.test.\n\nUnfortunately, your message could not be delivered to one or more\nrecipients. The usual cause of this problem is invalid\nrecipient address or maintenance at the recipient side.',
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 4.4.1\nDiagnostic-Code: smtp; 451 4.4.1 Connection timed out',
  }),
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

  // Office 365 and Exchange in odd dress.
  html(
    'Office 365, Dutch, restricted group',
    'soft',
    '<p>Uw bericht aan <b>team@dest.test</b> is niet bezorgd.</p><p>De groep accepteert alleen berichten van personen in de organisatie of op de lijst met toegestane afzenders.</p>',
    { from: 'postmaster@dest.test', subject: 'Onbestelbaar: Factuur' },
  ),
  html(
    'Office 365, Swedish, too large',
    'soft',
    '<p>Ditt meddelande till <b>joe@dest.test</b> kunde inte levereras.</p><p>Meddelandet är för stort. Den största storlek som mottagaren tillåter är 20 MB.</p>',
    { from: 'postmaster@dest.test', subject: 'Kunde inte levereras: Faktura' },
  ),
  html(
    'Office 365, Czech, not found',
    'hard',
    '<p>Vaši zprávu pro <b>joe@dest.test</b> se nepovedlo doručit.</p><p>Uživatel <b>joe</b> se v doméně <b>dest.test</b> nenašel.</p>',
    { from: 'postmaster@dest.test', subject: 'Nedoručitelné: Faktura' },
  ),
  html(
    'Office 365, Portuguese, deleted long ago',
    'hard',
    '<p>Não foi possível entregar sua mensagem para <b>joe@dest.test</b>.</p><p>O endereço de email que você digitou não foi encontrado no domínio de destino. Talvez esteja escrito incorretamente ou já não exista.</p>',
    { from: 'postmaster@dest.test', subject: 'Não é possível entregar: Fatura' },
  ),
  dsn(
    'Exchange Edge, supplementary information',
    'hard',
    {
      text: 'Delivery has failed to these recipients.',
      fields:
        'Final-recipient: RFC822; joe@dest.test\nAction: failed\nStatus: 5.0.0\nRemote-MTA: dns; 192.0.2.7\nX-Supplementary-Info: <192.0.2.7 #5.0.0 smtp; 550 "Unknown User">',
    },
    { from: 'postmaster@dest.test' },
  ),
  dsn(
    'Exchange Edge, supplementary information of Yahoo',
    'soft',
    {
      text: 'Delivery has failed to these recipients.',
      fields:
        'Final-recipient: RFC822; joe@dest.test\nAction: failed\nStatus: 5.0.0\nRemote-MTA: dns; mta5.dest.test\nX-Supplementary-Info: <mta5.dest.test #5.0.0 smtp; 554 delivery error:\n dd Sorry, your message to joe@dest.test cannot be delivered. This\n mailbox is disabled (554.30). - mta4490.dest.test>',
    },
    { from: 'postmaster@dest.test' },
  ),
  dsn(
    'Exchange Edge, supplementary information, spam',
    'soft',
    {
      text: 'Delivery has failed to these recipients.',
      fields:
        'Final-recipient: RFC822; joe@dest.test\nAction: failed\nStatus: 5.0.0\nRemote-MTA: dns; mx.dest.test\nX-Supplementary-Info: <mx.dest.test #5.0.0 smtp; 554 5.7.1 Message identified as SPAM>',
    },
    { from: 'postmaster@dest.test' },
  ),
  dsn('a status part without a diagnosis below a text', 'hard', {
    text: "** Adresse introuvable **\n\nVotre message à joe@dest.test n'est pas arrivé, car nous n'avons pas trouvé cette adresse.",
    fields: 'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0',
  }),
  withOriginal(
    'a text beside the original, refused content',
    'soft',
    'Your message was stopped by our gateway because one of its attachments is encrypted and could not be checked. It was not delivered.',
    { from: 'Mail Gateway <postmaster@dest.test>', subject: 'Message not delivered' },
  ),
  withOriginal(
    'a text beside the original, unknown',
    'hard',
    'Dear sender,\n\nwe received your message for joe@dest.test, but nobody in our organization has this address. Your message is attached.',
    { from: 'Postmaster <postmaster@dest.test>', subject: 'Undeliverable: Invoice 4711' },
  ),

  // Mail of persons and of their programs.
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
];
