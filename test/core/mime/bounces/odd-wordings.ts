import { type BounceCase, html, type Outcome, plain } from './bounce-case.ts';

/** What a daemon writes about one recipient in words of its own. */
function worded(language: string, outcome: Outcome, text: string, subject = 'Mail'): BounceCase {
  return plain(language, outcome, text, { subject });
}

/** Reports in wordings of single companies, in many languages. */
export const ODD_WORDINGS: readonly BounceCase[] = [
  worded(
    'en, colleague left',
    'hard',
    'Your e-mail to joe@dest.test was not passed on: the addressee left our company in March.',
  ),
  worded(
    'en, mailbox retired',
    'hard',
    'Dear sender,\n\nthe address joe@dest.test has been retired and messages to it go nowhere.',
  ),
  worded(
    'en, nobody',
    'hard',
    'We looked for joe at dest.test but nobody here goes by that name. Your message comes back to you.',
  ),
  worded('en, no such box', 'hard', 'Message to <joe@dest.test> bounced.\nThere is no box for joe on this machine.'),
  worded('en, typo', 'hard', 'joe@dest.test: this address appears to be a typo, we have no recipient like that.'),
  worded('en, full', 'soft', 'joe@dest.test: he has no room left for new messages. Try again once he has cleaned up.'),
  worded(
    'en, size',
    'soft',
    'Your mail to joe@dest.test was turned away: at 45 MB it is bigger than the 25 MB we take.',
  ),
  worded('en, policy', 'soft', 'Mail to joe@dest.test was held and dropped because our rules do not let zip files in.'),
  worded(
    'en, gave up',
    'soft',
    'For five days we tried to hand your message to dest.test, whose machine did not pick up. We gave up.',
  ),
  worded(
    'en, later',
    'delay',
    'Your message to joe@dest.test is still waiting in our queue. We go on trying for 3 more days; there is nothing you need to do.',
    'Message still in queue',
  ),
  worded(
    'de, ausgeschieden',
    'hard',
    'Ihre Nachricht an joe@dest.test ist nicht angekommen: Herr Miller arbeitet nicht mehr bei uns.',
  ),
  worded(
    'de, kein Empfänger',
    'hard',
    'Die Mail an joe@dest.test kommt zurück, weil es unter dieser Anschrift niemanden gibt.',
  ),
  worded(
    'de, Rechner',
    'hard',
    'Zustellung an joe@dest.test gescheitert. Der Zielrechner dest.test ist im DNS nicht zu finden.',
  ),
  worded(
    'de, Speicher',
    'soft',
    'Ihre Nachricht an joe@dest.test wurde abgelehnt, da der Speicher des Postfachs erschöpft ist.',
  ),
  worded(
    'de, warten',
    'delay',
    'Ihre Nachricht an joe@dest.test liegt noch in unserer Warteschlange. Wir versuchen es weiter, Sie müssen nichts tun.',
    'Zustellung dauert an',
  ),
  worded(
    'fr, parti',
    'hard',
    "Votre courriel adressé à joe@dest.test nous est revenu : cette personne ne fait plus partie de l'entreprise.",
  ),
  worded(
    'fr, boîte fermée',
    'hard',
    "Impossible d'acheminer votre message à joe@dest.test, la boîte aux lettres n'existant plus.",
  ),
  worded(
    'fr, pleine',
    'soft',
    "Votre message pour joe@dest.test n'a pu être déposé : plus assez de place dans la boîte.",
  ),
  worded(
    'fr, retard',
    'delay',
    'Votre message à joe@dest.test est toujours en attente. Nous continuons les essais pendant 2 jours.',
    'Message en attente',
  ),
  worded('es, baja', 'hard', 'Su mensaje para joe@dest.test fue rechazado porque ese usuario fue dado de baja.'),
  worded(
    'es, llena',
    'soft',
    'Su mensaje para joe@dest.test no llegó: la bandeja de entrada no admite más correos por falta de espacio.',
  ),
  worded(
    'es, reintento',
    'delay',
    'Su mensaje para joe@dest.test sigue en cola; lo intentaremos durante 48 horas más.',
    'Mensaje en espera',
  ),
  worded(
    'it, cessato',
    'hard',
    'Il suo messaggio a joe@dest.test è tornato indietro: quell’indirizzo è stato dismesso.',
  ),
  worded('it, piena', 'soft', 'Il suo messaggio a joe@dest.test non è arrivato, lo spazio della casella è esaurito.'),
  worded('pt, saiu', 'hard', 'Sua mensagem para joe@dest.test voltou: não temos nenhum usuário com esse nome.'),
  worded(
    'pt, cheia',
    'soft',
    'Sua mensagem para joe@dest.test foi recusada, pois a caixa de entrada dele está sem espaço.',
  ),
  worded(
    'nl, weg',
    'hard',
    'Uw bericht aan joe@dest.test is teruggekomen: deze medewerker is hier niet meer in dienst.',
  ),
  worded('nl, vol', 'soft', 'Uw bericht aan joe@dest.test is geweigerd omdat de brievenbus geen ruimte meer heeft.'),
  worded('pl, brak', 'hard', 'Wiadomość do joe@dest.test wróciła: pod tym adresem nikogo nie ma.'),
  worded('pl, pełna', 'soft', 'Wiadomość do joe@dest.test została odrzucona, bo w skrzynce zabrakło miejsca.'),
  worded('ru, уволен', 'hard', 'Письмо для joe@dest.test вернулось: этот сотрудник у нас больше не работает.'),
  worded('ru, места нет', 'soft', 'Письмо для joe@dest.test отклонено: в ящике закончилось свободное место.'),
  worded(
    'ru, очередь',
    'delay',
    'Письмо для joe@dest.test пока в очереди, попытки продолжатся ещё двое суток.',
    'Письмо ожидает доставки',
  ),
  worded('sv, slutat', 'hard', 'Ditt brev till joe@dest.test kom inte fram: personen har slutat hos oss.'),
  worded('da, fyldt', 'soft', 'Din mail til joe@dest.test blev afvist, fordi indbakken ikke har mere plads.'),
  worded('cs, zrušen', 'hard', 'Vaše zpráva pro joe@dest.test se vrátila, protože tato schránka byla zrušena.'),
  worded('hu, nincs', 'hard', 'A joe@dest.test címre küldött levele visszajött: ilyen címzettünk nincs.'),
  worded(
    'tr, ayrıldı',
    'hard',
    'joe@dest.test adresine gönderdiğiniz ileti geri döndü: bu kişi şirketimizden ayrıldı.',
  ),
  worded('ja, 退職', 'hard', 'joe@dest.test 宛のメールは戻ってまいりました。担当者は退職いたしました。'),
  worded('ja, 満杯', 'soft', 'joe@dest.test 宛のメールはお受け取りできません。受信ボックスに空きがありません。'),
  worded('zh, 离职', 'hard', '您发给 joe@dest.test 的邮件被拒收：该同事已经离职。'),
  worded('zh, 满', 'soft', '您发给 joe@dest.test 的邮件被拒收：对方收件箱没有剩余空间。'),
  worded('ko, 퇴사', 'hard', 'joe@dest.test 로 보낸 메일이 반송되었습니다. 해당 직원은 퇴사하였습니다.'),
  html(
    'en, table',
    'hard',
    '<table><tr><th>Recipient</th><th>Result</th></tr><tr><td>joe@dest.test</td><td>Not a recipient of this system</td></tr></table>',
    { subject: 'Mail returned' },
  ),
  html('en, list', 'soft', '<ul><li>joe@dest.test &mdash; the mailbox has hit its ceiling of 2 GB</li></ul>', {
    subject: 'Mail returned',
  }),
];
