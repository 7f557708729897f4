import { type BounceCase, dsn, encoded, head, html, withOriginal } from './bounce-case.ts';

/** Reports in HTML, in machine-readable parts, in odd encodings, and beside the original message. */
export const ENCODED_REPORTS: readonly BounceCase[] = [
  dsn('maddy, expired', 'soft', {
    text: 'This is the mail delivery system at mx.dest.test.\n\nUnfortunately, your message could not be delivered to one or more\nrecipients. The usual cause of this problem is invalid\nrecipient address or maintenance at the recipient side.',
    fields:
      'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 4.4.1\nDiagnostic-Code: smtp; 451 4.4.1 Connection timed out',
  }),
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
];
