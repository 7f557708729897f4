import { type BounceCase, dsn, html, type Outcome, plain, withOriginal } from './bounce-case.ts';

/** Returns a report whose text is encoded as the fields say. */
function encoded(system: string, outcome: Outcome, mail: string): BounceCase {
  return { system, outcome, mail };
}

function head(subject: string, contentType: string, fields: string): string {
  return `From: Mail Delivery Subsystem <MAILER-DAEMON@mx.dest.test>\nTo: bounce@sender.test\nSubject: ${subject}\n${fields}MIME-Version: 1.0\nContent-Type: ${contentType}\n`;
}

/** Reports that give their reason in the subject, in an encoded text or in a status only, of rare systems, and mail that is none. */
export const ODD_REPORTS: readonly BounceCase[] = [
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
  encoded(
    'latin1 qp German',
    'hard',
    head('Unzustellbar', 'text/plain; charset=iso-8859-1', 'Content-Transfer-Encoding: quoted-printable\n') +
      '\nIhre Nachricht konnte nicht zugestellt werden:\n\njoe@dest.test\n    Empf=E4nger unbekannt\n',
  ),
  encoded(
    'base64 text',
    'hard',
    head('Undeliverable', 'text/plain; charset=utf-8', 'Content-Transfer-Encoding: base64\n') +
      '\n' +
      Buffer.from('The following address failed:\n\njoe@dest.test: no such mailbox\n').toString('base64') +
      '\n',
  ),
  encoded(
    'utf-16 text',
    'hard',
    head('Undeliverable', 'text/plain; charset=utf-16', 'Content-Transfer-Encoding: base64\n') +
      '\n' +
      Buffer.from('\ufeffjoe@dest.test: no such mailbox\n', 'utf16le').toString('base64') +
      '\n',
  ),
  dsn('second recipient', 'hard', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.1.1\n\nFinal-Recipient: rfc822; ann@dest.test\nAction: failed\nStatus: 4.2.2\nDiagnostic-Code: smtp; 452 full',
  }),
  dsn('status only 5.1.2', 'hard', { fields: 'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.1.2' }),
  dsn('status only 5.1.10', 'hard', {
    fields: 'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.1.10',
  }),
  dsn('status only 5.2.1', 'soft', { fields: 'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.2.1' }),
  dsn('status only 5.0.0', 'soft', { fields: 'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0' }),
  dsn('text says', 'hard', {
    text: 'joe@dest.test\nThe email account that you tried to reach does not exist.',
    fields: 'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0',
  }),
  dsn('diagnostic in lower case type', 'hard', {
    fields:
      'final-recipient: RFC822;<joe@dest.test>\naction: FAILED\nstatus: 5.1.1 (bad destination)\ndiagnostic-code: SMTP;550 5.1.1 no such user',
  }),
  dsn('relayed then', 'delay', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: delayed\nStatus: 4.4.1\nDiagnostic-Code: smtp; 421 try later\nWill-Retry-Until: Thu, 3 Feb 2011 10:11:12 +0100',
  }),
  dsn('delay unknown user', 'delay', {
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: delayed\nStatus: 4.2.0\nDiagnostic-Code: smtp; 450 user unknown, try later',
  }),
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
  html(
    'Zoho',
    'hard',
    '<p>This message was created automatically by mail delivery software.</p><p>A message that you sent could not be delivered to one or more of its recipients. This is a permanent error.</p><p>joe@dest.test, ERROR CODE :550 - 5.1.1 &lt;joe@dest.test&gt;: Recipient address rejected: User unknown</p>',
    { from: 'mailer-daemon@mail.zoho.test', subject: 'Undelivered Mail Returned to Sender' },
  ),
  html(
    'Proofpoint',
    'hard',
    '<p>Your message was not delivered.</p><table><tr><td>joe@dest.test</td><td>550 5.1.1 User Unknown</td></tr></table>',
    { from: 'Mail Delivery System <mailer-daemon@pphosted.test>' },
  ),
  html(
    'Apple',
    'hard',
    '<p>Your message to joe@icloud.test could not be delivered.</p><pre>550 5.1.1 &lt;joe@icloud.test&gt;: user does not exist</pre>',
    { from: 'Postmaster <postmaster@icloud.test>' },
  ),
  withOriginal('no-reply daemon', 'hard', 'Delivery to joe@dest.test failed permanently: 550 5.1.1 unknown recipient', {
    from: 'Mail System <no-reply@mx.dest.test>',
    subject: 'Delivery failed',
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
