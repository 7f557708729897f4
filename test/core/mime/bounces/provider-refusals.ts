import { type BounceCase, dsn, html, plain } from './bounce-case.ts';

/** Returns a report with the words of the receiving server, behind a general status. */
function refused(system: string, outcome: 'hard' | 'soft', reply: string, status = '5.0.0'): BounceCase {
  return dsn(system, outcome, {
    text: `<joe@dest.test>: host mx.dest.test[192.0.2.1] said: ${reply}`,
    fields: `Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: ${status}\nRemote-MTA: dns; mx.dest.test\nDiagnostic-Code: smtp; ${reply}`,
  });
}

/** Replies of large providers and filters, as reported by another server. */
export const PROVIDER_REFUSALS: readonly BounceCase[] = [
  refused(
    'Orange',
    'hard',
    '550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. OFR204_416 [416]',
  ),
  refused('Orange', 'soft', '552 5.1.1 Boite du destinataire pleine. Recipient overquota. OFR201_417 [417]'),
  refused('Orange', 'soft', '550 5.5.0 Mail rejete. Mail rejected. OFR_506 [506]'),
  refused('Free', 'hard', '550 5.1.1 <joe@free.test>: Recipient address rejected: Utilisateur inconnu'),
  refused(
    'La Poste',
    'soft',
    '554 5.7.1 Service refuse. Veuillez essayer plus tard. Service refused, please try later. LPN007_510',
  ),
  refused('SFR', 'hard', '550 5.1.1 <joe@sfr.test>: Recipient address rejected: Boite inexistante'),
  refused(
    'WEB.DE',
    'hard',
    '550 Requested action not taken: mailbox unavailable. For explanation visit http://postmaster.web.de/error-messages?ip=192.0.2.9&c=hi',
  ),
  refused(
    'GMX',
    'soft',
    '552 Requested mail action aborted: exceeded storage allocation. Quota exceeded. The recipients mailbox is full.',
  ),
  refused(
    'GMX',
    'soft',
    '554 Transaction failed Reject due to policy restrictions. For explanation visit https://postmaster.gmx.net/case?c=r0101',
  ),
  refused(
    'T-Online',
    'soft',
    '554 IP=192.0.2.9 - A problem occurred. (Ask your postmaster for help or to contact tosa@rx.t-online.de to clarify.) (BL)',
  ),
  refused('T-Online', 'hard', '550 joe@t-online.test: unbekannter Empfänger'),
  refused('1&1', 'hard', '550 Requested action not taken: mailbox unavailable'),
  refused(
    'mail.ru',
    'hard',
    '550 Message was not accepted -- invalid mailbox.  Local mailbox joe@mail.test is unavailable: user is terminated',
  ),
  refused('mail.ru', 'soft', '550 spam message rejected. Please visit http://help.mail.ru/notspam-support/id?c=abc'),
  refused('mail.ru', 'hard', '550 5.1.1 Пользователь joe@mail.test не найден'),
  refused('Rambler', 'hard', '550 5.1.1 <joe@rambler.test>: Recipient not found. Получатель не найден'),
  refused('Yandex', 'hard', '550 5.7.1 No such user!'),
  refused('Yandex', 'soft', '554 5.7.1 Message rejected under suspicion of SPAM; https://ya.cc/1IrBc'),
  refused('ukr.net', 'hard', '550 5.1.1 Одержувача не існує'),
  refused(
    'QQ',
    'hard',
    '550 Mailbox unavailable or access denied [MXAB12 192.0.2.9 1700000000]. https://open.work.weixin.qq.com/help2/pc/20022',
  ),
  refused('NetEase', 'hard', '550 User not found: joe@163.test'),
  refused(
    'NetEase',
    'soft',
    '554 DT:SPM 163 mx5,Q8CowAB3,1700000000 http://mail.163.com/help/help_spam_16.htm?ip=192.0.2.9',
  ),
  refused('Aliyun', 'soft', '553 sorry, that recipient has been frozen or does not exist'),
  refused('Sina', 'hard', '511 RP:QID 没有这个收件人'),
  refused('KDDI', 'hard', '550 <joe@ezweb.test>: User unknown'),
  refused('NTT docomo', 'hard', '550 Unknown user joe@docomo.test'),
  refused('SoftBank', 'hard', '550 Invalid recipient: <joe@softbank.test>'),
  refused('Naver', 'hard', '550 5.1.1 User Unknown joe - NNMDR'),
  refused(
    'Yahoo',
    'hard',
    "554 delivery error: dd This user doesn't have a yahoo.test account (joe@yahoo.test) [0] - mta1.mail.test",
  ),
  refused(
    'Yahoo',
    'soft',
    '554 delivery error: dd Requested mail action aborted, mailbox not accepting mail? Sorry, your message to joe@yahoo.test cannot be delivered. This account is over quota. - mta1.mail.test',
  ),
  refused('Yahoo', 'hard', '552 1 Requested mail action aborted, mailbox not found'),
  refused('AOL', 'hard', '550 MAILBOX NOT FOUND'),
  refused(
    'AOL',
    'soft',
    '554 5.7.1 HVU:B1: Your mail contains a URL that is blocked; see http://postmaster.aol.com/errors/554hvub1.html',
  ),
  refused('AOL', 'soft', '550 joe IS NOT ACCEPTING MAIL FROM THIS SENDER'),
  refused('Verizon', 'hard', '550 4.2.1 mailbox does not exist', '4.2.1'),
  refused('Comcast', 'hard', '550 5.1.1 Not our Customer'),
  refused(
    'AT&T',
    'soft',
    '553 5.3.0 flpd590 DNSBL:RBL 521< 192.0.2.9 >_is_blocked.For assistance forward this error to abuse_rbl@abuse-att.net',
  ),
  refused('Charter', 'hard', '550 5.1.1 <joe@charter.test> recipient does not exist. E2110'),
  refused('iCloud', 'hard', '550 5.1.1 unknown or illegal alias: joe@icloud.test'),
  refused(
    'iCloud',
    'soft',
    '550 5.7.1 [CS01] Message rejected due to local policy. Please visit https://support.apple.com/en-us/HT204137',
  ),
  refused('GoDaddy', 'hard', '550 5.1.1 Recipient not found.  <http://x.co/irbounce>'),
  refused('OVH', 'hard', '550 5.1.1 <joe@dest.test>: Email address could not be found, or was misspelled (G8)'),
  refused('Libero', 'hard', '550 5.1.1 <joe@libero.test> utente inesistente'),
  refused('Aruba', 'hard', '550 5.1.1 Destinatario non valido'),
  refused('Seznam', 'hard', '550 5.1.1 Uvedeny prijemce neexistuje'),
  refused('WP', 'hard', '550 5.1.1 <joe@wp.test>: Konto nie istnieje'),
  refused('UOL', 'hard', '550 5.1.1 <joe@uol.test>: Usuario inexistente'),
  refused('Terra', 'hard', '550 5.1.1 RP 001 caixa postal inexistente'),
  refused('Telefonica', 'hard', '550 5.1.1 La cuenta joe@tele.test no existe'),
  refused('Rediffmail', 'hard', '550 5.1.1 <joe@rediff.test>: No such user exists'),
  refused('Mimecast', 'hard', '550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550 [AbC.uk12]'),
  refused(
    'Mimecast',
    'soft',
    '550 Rejected by header based manually blocked senders - https://community.mimecast.com/docs/DOC-1369#550',
  ),
  refused('Proofpoint', 'hard', '550 5.1.1 User Unknown'),
  refused('Proofpoint Essentials', 'hard', '550 5.1.1 Invalid address for domain dest.test'),
  refused('Proofpoint', 'soft', '554 Blocked - see https://support.proofpoint.com/dnsbl-lookup.cgi?ip=192.0.2.9'),
  refused('Postini', 'hard', '550 No such user - psmtp'),
  refused('Postini', 'soft', '554 5.7.1 Message rejected as spam by Content Filtering. - psmtp'),
  refused('Symantec', 'hard', '550 Requested action not taken: no such recipient (#5.1.1)'),
  refused(
    'Symantec',
    'soft',
    '553-Message filtered. Refer to the Troubleshooting page at http://www.symanteccloud.com/troubleshooting for more information. (#5.7.1)',
  ),
  refused('Sophos', 'hard', '550 Unknown recipient (joe@dest.test), verification failed'),
  refused('FortiMail', 'hard', '550 5.1.1 <joe@dest.test>... Address does not exist in our LDAP'),
  refused('SonicWALL', 'hard', '551 <joe@dest.test> is not a valid mailbox here'),
  refused(
    'Mailgun receiver',
    'soft',
    '550 5.7.1 Delivery not authorized, message refused: Message is not RFC 5322 compliant',
  ),
  refused('cPanel', 'hard', '550 No Such User Here"'),
  refused(
    'cPanel',
    'soft',
    '550-Verification failed for <bounce@sender.test>\n  550-No Such User Here\n  550 Sender verify failed',
  ),
  refused('Amavis', 'soft', '554 5.7.0 Reject, id=12345-01 - BANNED: .exe,.exe-ms,invoice.exe'),
  refused('Spamhaus user', 'soft', '550 5.7.1 Service unavailable; client [192.0.2.9] blocked using zen.spamhaus.org'),
  refused(
    'Greylisting given up',
    'soft',
    '450 4.7.1 <joe@dest.test>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/help/dest.test.html',
    '4.7.1',
  ),
  refused(
    'Unverified recipient',
    'hard',
    '550 5.1.1 <joe@dest.test>: Recipient address rejected: undeliverable address: unknown user: "joe"',
  ),
  refused('Moved', 'hard', '551 5.1.6 joe has moved; please try joe@new.test'),
  refused('Moved to another company', 'hard', '550 5.1.6 recipient no longer on server: joe@dest.test'),
  refused('Left the company', 'hard', '550 This person no longer works here, address does not exist'),
  refused(
    'Google Workspace',
    'hard',
    "550-5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address for typos or unnecessary spaces. Learn more at https://support.google.com/mail/?p=NoSuchUser",
  ),
  refused(
    'Google Workspace',
    'soft',
    '550-5.2.1 The email account that you tried to reach is inactive. Learn more at https://support.google.com/mail/?p=DisabledUser',
  ),
  refused(
    'Google Workspace',
    'soft',
    '550-5.7.26 This mail has been blocked because the sender is unauthenticated. Gmail requires all senders to authenticate with either SPF or DKIM.',
  ),
  refused(
    'Google Workspace',
    'soft',
    '552-5.2.2 The email account that you tried to reach is over quota and inactive. Please direct the recipient to https://support.google.com/mail/?p=OverQuotaPerm',
  ),
  plain(
    'Yahoo Japan',
    'hard',
    `次の宛先へのメッセージはエラーのため送信できませんでした。

<joe@dest.test>:
接続先サーバーからの応答: 550 Unknown user joe@dest.test`,
    { from: 'MAILER-DAEMON@mail.yahoo.test', subject: '送信エラー' },
  ),
  plain(
    'QQ Mail',
    'hard',
    `您好，您的邮件被退回到您的收件箱

抱歉，您发送的邮件被对方服务器退回。
收件人：joe@dest.test
退信原因：收件人邮件地址不存在，邮件无法送达。`,
    { from: 'PostMaster@qq.test', subject: '系统退信/Systems bounce' },
  ),
  plain(
    'NetEase',
    'hard',
    `抱歉，您的邮件被退回来了……

原邮件信息：
主 题：发票
收件人：joe@dest.test

退信原因：收件人帐号不存在，请检查后重新发送。
英文说明：SMTP error, RCPT TO: host mx.dest.test said: 550 User not found`,
    { from: 'Postmaster@163.test', subject: '系统退信' },
  ),
  plain(
    'Sina',
    'soft',
    `很抱歉，您的邮件未能送达。

收件人：joe@dest.test
原因：对方邮箱已满，无法接收新邮件。`,
    { from: 'MAILER-DAEMON@sina.test', subject: '退信通知' },
  ),
  plain(
    'Nate',
    'hard',
    `메일 전송에 실패했습니다.

받는 사람: joe@dest.test
실패 사유: 받는 사람의 메일 주소가 존재하지 않습니다.`,
    { from: 'postmaster@nate.test', subject: '메일 전송 실패 안내' },
  ),
  plain(
    'Hanmail',
    'soft',
    `메일이 반송되었습니다.

수신자: joe@dest.test
사유: 수신자의 메일함 용량이 초과되었습니다.`,
    { from: 'MAILER-DAEMON@hanmail.test', subject: '반송 메일' },
  ),
  plain(
    'KDDI',
    'hard',
    `Your mail sent on: Thu, 3 Feb 2011 10:11:12 +0900
    To: joe@ezweb.test

Could not be delivered to: <joe@ezweb.test>
Each of the following recipients was rejected by a remote mail server.

    Recipient: <joe@ezweb.test>
    >>> RCPT TO:<joe@ezweb.test>
    <<< 550 <joe@ezweb.test>: User unknown`,
    { from: 'Postmaster@ezweb.test', subject: 'Mail System Error - Returned Mail' },
  ),
  plain(
    'Verizon',
    'hard',
    `The original message was received at Thu, 3 Feb 2011 10:11:12 -0500

Message could not be delivered to mobile.
Error: No valid recipients for this MM
Recipient: 5551234@vzwpix.test`,
    { from: 'post_master@vtext.test', subject: 'Undeliverable Message' },
  ),
  plain(
    'AOL',
    'hard',
    `The mail you sent could not be delivered to the following recipients:

  joe@aol.test - Mailbox not found`,
    { from: 'postmaster@aol.test', subject: 'Mail undeliverable' },
  ),
  html(
    'Mimecast',
    'hard',
    '<p>Your email to the following recipient was rejected</p><p>joe@dest.test</p><p>Reason: Recipient address is invalid. The recipient server would not accept the message.</p>',
    { from: 'Postmaster <postmaster@dest.test>', subject: '[Postmaster] Email Delivery Failure' },
  ),
];

const GMAIL = {
  from: 'Mail Delivery Subsystem <mailer-daemon@googlemail.com>',
  subject: 'Delivery Status Notification (Failure)',
};

/** Gmail writes in the language of its user; here without the machine-readable part, as forwarding servers pass it on. */
export const GMAIL_LANGUAGES: readonly BounceCase[] = [
  [
    'Dutch',
    'Adres niet gevonden',
    'Je bericht is niet bezorgd aan joe@dest.test omdat het adres niet is gevonden of geen e-mail kan ontvangen.',
  ],
  [
    'Polish',
    'Nie znaleziono adresu',
    'Twoja wiadomość nie dotarła do joe@dest.test, ponieważ nie można odnaleźć tego adresu lub nie może on odbierać poczty.',
  ],
  [
    'Russian',
    'Адрес не найден',
    'Ваше сообщение не доставлено по адресу joe@dest.test, поскольку такой адрес не найден или не может принимать почту.',
  ],
  [
    'Turkish',
    'Adres bulunamadı',
    'Adres bulunamadığı veya posta alamadığı için iletiniz joe@dest.test adresine teslim edilmedi.',
  ],
  [
    'Swedish',
    'Adressen hittades inte',
    'Ditt meddelande till joe@dest.test levererades inte eftersom adressen inte hittades eller inte kan ta emot e-post.',
  ],
  [
    'Danish',
    'Adressen blev ikke fundet',
    'Din mail blev ikke leveret til joe@dest.test, fordi adressen ikke kunne findes eller ikke kan modtage mails.',
  ],
  [
    'Norwegian',
    'Adressen ble ikke funnet',
    'Meldingen ble ikke levert til joe@dest.test fordi adressen ikke ble funnet eller ikke kan motta e-post.',
  ],
  [
    'Finnish',
    'Osoitetta ei löydy',
    'Viestiäsi ei toimitettu osoitteeseen joe@dest.test, koska osoitetta ei löytynyt tai se ei voi vastaanottaa sähköpostia.',
  ],
  [
    'Czech',
    'Adresa nebyla nalezena',
    'Vaše zpráva nebyla na adresu joe@dest.test doručena, protože adresa nebyla nalezena nebo nemůže přijímat poštu.',
  ],
  [
    'Hungarian',
    'A cím nem található',
    'Az üzenetet nem sikerült kézbesíteni a(z) joe@dest.test címre, mert a cím nem található, vagy nem tud levelet fogadni.',
  ],
  [
    'Korean',
    '주소를 찾을 수 없음',
    '주소를 찾을 수 없거나 메일을 받을 수 없어 메일이 joe@dest.test에 전송되지 않았습니다.',
  ],
  ['Chinese', '找不到地址', '您的邮件未送达 joe@dest.test，因为系统找不到该地址，或者该地址无法接收邮件。'],
  [
    'Vietnamese',
    'Không tìm thấy địa chỉ',
    'Thư của bạn không được gửi tới joe@dest.test vì không tìm thấy địa chỉ hoặc địa chỉ không thể nhận thư.',
  ],
  [
    'Indonesian',
    'Alamat tidak ditemukan',
    'Pesan Anda tidak terkirim ke joe@dest.test karena alamat tidak dapat ditemukan atau tidak dapat menerima email.',
  ],
  [
    'Greek',
    'Η διεύθυνση δεν βρέθηκε',
    'Το μήνυμά σας δεν παραδόθηκε στη διεύθυνση joe@dest.test, επειδή η διεύθυνση δεν βρέθηκε.',
  ],
  [
    'Arabic',
    'لم يتم العثور على العنوان',
    'لم يتم تسليم رسالتك إلى joe@dest.test لأنه تعذر العثور على العنوان أو لا يمكنه استلام البريد.',
  ],
].map(([language, title, text]) => html(`Gmail ${language}`, 'hard', `<h2>${title}</h2><p>${text}</p>`, GMAIL));

/** Other reports of Gmail. */
export const GMAIL_REPORTS: readonly BounceCase[] = [
  html(
    'Gmail',
    'soft',
    "<h2>Recipient inbox full</h2><p>Your message couldn't be delivered to joe@dest.test. Their inbox is full, or it's getting too much mail right now.</p>",
    GMAIL,
  ),
  html(
    'Gmail',
    'delay',
    "<h2>Delivery incomplete</h2><p>There was a temporary problem delivering your message to joe@dest.test. Gmail will retry for 46 more hours. You'll be notified if the delivery fails permanently.</p>",
    { ...GMAIL, subject: 'Delivery Status Notification (Delay)' },
  ),
  html(
    'Gmail',
    'soft',
    '<h2>Message blocked</h2><p>Your message to joe@dest.test has been blocked. See technical details below for more information.</p><p>The response from the remote server was: 554 5.7.1 The message was rejected because it contains prohibited virus or spam content</p>',
    GMAIL,
  ),
  plain(
    'Gmail, 2012',
    'hard',
    `Delivery to the following recipient failed permanently:

     joe@dest.test

Technical details of permanent failure:
Google tried to deliver your message, but it was rejected by the server for the recipient domain dest.test by mx.dest.test. [192.0.2.1].

The error that the other server returned was:
550 5.1.1 User unknown`,
    GMAIL,
  ),
  plain(
    'Gmail, 2012',
    'soft',
    `Delivery to the following recipient failed permanently:

     joe@dest.test

Technical details of permanent failure:
The recipient server did not accept our requests to connect. Learn more at http://support.google.com/mail/bin/answer.py?answer=7720
[mx.dest.test. (0): Connection timed out]`,
    GMAIL,
  ),
  plain(
    'Gmail, 2008',
    'delay',
    `This is an automatically generated Delivery Status Notification

THIS IS A WARNING MESSAGE ONLY.

YOU DO NOT NEED TO RESEND YOUR MESSAGE.

Delivery to the following recipient has been delayed:

     joe@dest.test

Message will be retried for 2 more day(s)`,
    { ...GMAIL, subject: 'Delivery Status Notification (Delay)' },
  ),
];

/** Automatic replies and mail of persons, at return addresses. */
export const NO_REPORTS: readonly BounceCase[] = [
  plain('Vacation in French', 'automatic-reply', "Je suis absent jusqu'au lundi 12. La boîte n'est pas relevée.", {
    from: 'Joe <joe@dest.test>',
    subject: 'Réponse automatique : Facture 4711',
  }),
  plain(
    'Vacation in Dutch',
    'automatic-reply',
    'Ik ben afwezig tot maandag. Het adres info@dest.test bestaat niet meer.',
    {
      from: 'Joe <joe@dest.test>',
      subject: 'Automatisch antwoord: Factuur',
    },
  ),
  plain(
    'Left the company',
    'automatic-reply',
    'Joe no longer works for Dest. This mailbox is not monitored. Please write to ann@dest.test.',
    {
      from: 'Joe <joe@dest.test>',
      subject: 'Automatic reply: Invoice 4711',
      header: 'Auto-Submitted: auto-replied\n',
    },
  ),
  plain(
    'A person about a bounce',
    'unknown',
    'Hi,\n\nyour mail to my colleague came back. Do you have the right address? She said the user was not found.\n\nJoe',
    {
      from: 'Joe <joe@dest.test>',
      subject: 'Re: Invoice 4711',
    },
  ),
  plain(
    'A person about a full mailbox',
    'unknown',
    'Sorry for the late reply, my mailbox was full last week. I can pay on Monday.\n\nJoe',
    {
      from: 'Joe <joe@dest.test>',
      subject: 'Re: Invoice 4711',
    },
  ),
  plain(
    'A person in German',
    'unknown',
    'Hallo,\n\ndie Adresse von Frau Meier existiert nicht mehr, bitte schreiben Sie künftig mir.\n\nGruß, Joe',
    {
      from: 'Joe <joe@dest.test>',
      subject: 'AW: Rechnung 4711',
    },
  ),
];
