import { type BounceCase, dsn, html, plain, withOriginal } from './bounce-case.ts';

/** Reports in a sentence or two, in many languages, as companies write them; written before any was read. */
export const PLAIN_WORDS: readonly BounceCase[] = [
  plain(
    'plain words 01',
    'hard',
    'This is an automatically generated message.\n\nYour e-mail message could not be delivered to the following recipient:\n\n  Recipient: joe@dest.test\n  Reason:    There is no such mailbox at dest.test\n\nPlease do not reply.',
    { from: 'postmaster@dest.test', subject: 'Undelivered: Invoice' },
  ),
  plain(
    'plain words 02',
    'hard',
    '*** ATTENTION ***\n\nThe address joe@dest.test you used is out of date and has been switched off.\nNo mail sent to it is read or kept.',
    { from: 'postmaster@dest.test', subject: 'Delivery failed' },
  ),
  plain(
    'plain words 03',
    'soft',
    '*** ATTENTION ***\n\nYour message to joe@dest.test was larger than 20 MB and was not delivered.',
    { from: 'postmaster@dest.test', subject: 'Delivery failed' },
  ),
  plain('plain words 04', 'hard', 'Error 550: the user joe is unknown at dest.test.', {
    from: 'postmaster@dest.test',
    subject: 'mail error',
  }),
  plain('plain words 05', 'soft', 'Error 421: dest.test is too busy. We gave up after 3 days.\n\njoe@dest.test', {
    from: 'postmaster@dest.test',
    subject: 'mail error',
  }),
  plain(
    'plain words 06',
    'delay',
    'We could not reach dest.test since yesterday. Your message to joe@dest.test is still in our queue.\nThere is nothing you have to do.',
    { from: 'postmaster@dest.test', subject: 'Mail delayed' },
  ),
  plain(
    'plain words 07',
    'hard',
    'Sehr geehrte Damen und Herren,\n\nIhre Nachricht konnte nicht zugestellt werden, da der Empfänger joe@dest.test in unserem Hause nicht bekannt ist.\n\nMit freundlichen Grüßen\nIhr Mailserver',
    { from: 'postmaster@dest.test', subject: 'Unzustellbare Nachricht' },
  ),
  plain(
    'plain words 08',
    'hard',
    'Die E-Mail-Adresse joe@dest.test existiert nicht mehr. Bitte wenden Sie sich an info@dest.test.\nIhre Nachricht wurde nicht weitergeleitet.',
    { from: 'postmaster@dest.test', subject: 'Adresse nicht mehr gültig' },
  ),
  plain(
    'plain words 09',
    'soft',
    'Ihre Nachricht an joe@dest.test wurde wegen eines nicht erlaubten Anhangs abgewiesen.',
    { from: 'postmaster@dest.test', subject: 'Nachricht abgewiesen' },
  ),
  plain(
    'plain words 10',
    'hard',
    'Madame, Monsieur,\n\nle message que vous avez adressé à joe@dest.test n’a pas pu lui être remis, car son adresse n’est plus valide.',
    { from: 'postmaster@dest.test', subject: 'Non remis' },
  ),
  plain('plain words 11', 'soft', 'Le message adressé à joe@dest.test n’a pas été remis : sa boîte est saturée.', {
    from: 'postmaster@dest.test',
    subject: 'Non remis',
  }),
  plain(
    'plain words 12',
    'hard',
    'El servidor de correo de dest.test informa:\n\nEl mensaje para joe@dest.test no se ha podido entregar. Usuario no encontrado.',
    { from: 'postmaster@dest.test', subject: 'Aviso de devolución' },
  ),
  plain(
    'plain words 13',
    'hard',
    'Gentile utente,\n\nil messaggio inviato a joe@dest.test non è stato recapitato in quanto il destinatario risulta sconosciuto.',
    { from: 'postmaster@dest.test', subject: 'Mancato recapito' },
  ),
  plain(
    'plain words 14',
    'hard',
    'Prezado(a),\n\nsua mensagem para joe@dest.test retornou porque o endereço não foi localizado.',
    { from: 'postmaster@dest.test', subject: 'Retorno de mensagem' },
  ),
  plain(
    'plain words 15',
    'hard',
    'Geachte afzender,\n\nuw bericht aan joe@dest.test kon niet worden afgeleverd omdat deze gebruiker niet bestaat.',
    { from: 'postmaster@dest.test', subject: 'Onbestelbaar' },
  ),
  plain(
    'plain words 16',
    'hard',
    'Hej,\n\ndin besked til joe@dest.test kunne ikke afleveres, fordi modtageren ikke findes.',
    { from: 'postmaster@dest.test', subject: 'Ikke leveret' },
  ),
  plain(
    'plain words 17',
    'hard',
    'Viestiäsi osoitteeseen joe@dest.test ei voitu toimittaa, koska osoitetta ei ole olemassa.',
    { from: 'postmaster@dest.test', subject: 'Viestiä ei toimitettu' },
  ),
  plain('plain words 18', 'hard', 'Państwa wiadomość do joe@dest.test nie dotarła, ponieważ taki adres nie istnieje.', {
    from: 'postmaster@dest.test',
    subject: 'Niedostarczona wiadomość',
  }),
  plain('plain words 19', 'hard', 'Vaše zpráva nebyla doručena, protože adresát joe@dest.test neexistuje.', {
    from: 'postmaster@dest.test',
    subject: 'Nedoručitelná zpráva',
  }),
  plain('plain words 20', 'hard', 'Az üzenetet nem lehetett kézbesíteni, mert a joe@dest.test cím nem létezik.', {
    from: 'postmaster@dest.test',
    subject: 'Kézbesítetlen üzenet',
  }),
  plain('plain words 21', 'hard', 'Mesajul către joe@dest.test nu a fost livrat deoarece adresa nu există.', {
    from: 'postmaster@dest.test',
    subject: 'Mesaj nelivrat',
  }),
  plain('plain words 22', 'hard', 'Сообщение для joe@dest.test не доставлено, так как такого адреса не существует.', {
    from: 'postmaster@dest.test',
    subject: 'Не доставлено',
  }),
  plain('plain words 23', 'hard', 'Лист для joe@dest.test не доставлено: адресата не знайдено.', {
    from: 'postmaster@dest.test',
    subject: 'Не доставлено',
  }),
  plain('plain words 24', 'hard', 'joe@dest.test adresli kullanıcı bulunamadığı için iletiniz teslim edilemedi.', {
    from: 'postmaster@dest.test',
    subject: 'Teslim edilemedi',
  }),
  plain('plain words 25', 'hard', 'Το μήνυμά σας προς joe@dest.test δεν παραδόθηκε, επειδή ο χρήστης δεν υπάρχει.', {
    from: 'postmaster@dest.test',
    subject: 'Αποτυχία παράδοσης',
  }),
  plain('plain words 26', 'hard', 'ההודעה אל joe@dest.test לא נמסרה כי הנמען אינו קיים.', {
    from: 'postmaster@dest.test',
    subject: 'ההודעה לא נמסרה',
  }),
  plain('plain words 27', 'hard', 'لم يتم تسليم رسالتك إلى joe@dest.test لأن العنوان غير موجود.', {
    from: 'postmaster@dest.test',
    subject: 'فشل التسليم',
  }),
  plain('plain words 28', 'hard', '您发往 joe@dest.test 的邮件因收件人不存在而被退回。', {
    from: 'postmaster@dest.test',
    subject: '邮件退回',
  }),
  plain('plain words 29', 'hard', '您寄給 joe@dest.test 的郵件無法送達，因為該帳號已停用並刪除。', {
    from: 'postmaster@dest.test',
    subject: '郵件無法送達',
  }),
  plain(
    'plain words 30',
    'hard',
    'joe@dest.test への送信に失敗しました。メールアドレスをご確認ください（User unknown）。',
    { from: 'postmaster@dest.test', subject: '送信失敗' },
  ),
  plain('plain words 31', 'hard', 'joe@dest.test 주소를 찾을 수 없어 메일을 전달하지 못했습니다.', {
    from: 'postmaster@dest.test',
    subject: '전달 실패',
  }),
  plain('plain words 32', 'hard', 'Thư gửi tới joe@dest.test không gửi được vì địa chỉ không tồn tại.', {
    from: 'postmaster@dest.test',
    subject: 'Không gửi được',
  }),
  html(
    'plain words 33',
    'hard',
    '<table><tr><th>Recipient</th><th>Result</th></tr><tr><td>joe@dest.test</td><td>Unknown mailbox</td></tr></table>',
    { from: 'postmaster@dest.test', subject: 'Delivery report' },
  ),
  html(
    'plain words 34',
    'soft',
    '<p>Your message to <a href="mailto:joe@dest.test">joe@dest.test</a> was held as suspected phishing and deleted.</p>',
    { from: 'postmaster@dest.test', subject: 'Message blocked' },
  ),
  dsn('plain words 35', 'soft', {
    text: 'The message could not be delivered because the recipient’s mailbox has reached its limit.',
    fields: 'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0',
  }),
  dsn('plain words 36', 'hard', {
    text: 'The recipient has left the organisation.',
    fields: 'Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0',
  }),
  withOriginal(
    'plain words 37',
    'hard',
    'The following addresses had permanent errors:\n\nJoe Doe <joe@dest.test>\n   (reason: user not in directory)',
    { from: 'postmaster@dest.test' },
  ),
  plain(
    'plain words 38',
    'unknown',
    'Hello,\n\nyou may have the wrong address: our Joe is joe.doe@dest.test. I forwarded your mail to him.\n\nAnn',
    { from: 'Ann <ann@dest.test>', subject: 'AW: Invoice' },
  ),
  plain(
    'plain words 39',
    'unknown',
    'Guten Tag,\n\nHerr Doe ist nicht mehr bei uns. Bitte schreiben Sie an ann@dest.test.\n\nGruß, Ann',
    { from: 'Ann <ann@dest.test>', subject: 'Re: Rechnung' },
  ),
  plain('plain words 40', 'automatic-reply', 'Herr Doe ist nicht mehr bei uns. Bitte schreiben Sie an ann@dest.test.', {
    from: 'Joe Doe <joe@dest.test>',
    subject: 'Automatische Antwort: Rechnung',
  }),
];
