// Wordings by which a report without a machine-readable part is recognized, lower case, separated by `|`. Add those of another server or
// language here.

/** Words after which a report repeats the original message, at the start of a line without its dashes and stars. */
export const COPY_WORDINGS = splitList(`
    original message | original mail | the original message | the header of the original message | original header | this is a copy of |
    copy of the | below this line is a copy | below is a copy | enclosed is a copy | included is a copy | message headers follow |
    message header | header of the message | headers of the message | unsent message | returned message | message text follows |
    returned mail | original text | forwarded message | begin message | undelivered message | message follows |
    ursprüngliche nachricht | message d'origine | mensaje original | messaggio originale | 原文 | 元のメール | 原始邮件 | исходное сообщение`);

/** Words that a message is late and still being tried. */
export const DELAY_WORDINGS = splitList(`
    do not need to resend | not necessary to resend | not necessary to send it again | no action is required on your part | nicht erneut senden | nicht erneut zu senden | nicht noch einmal senden | nicht nochmals senden |
    pas nécessaire de renvoyer | inutile de renvoyer | n'avez pas besoin de renvoyer | no es necesario que reenvíe | no es necesario reenviar | no es necesario volver a enviar | no hace falta reenviar |
    non è necessario inviare | non è necessario rinviare | non è necessario reinviare | não é necessário reenviar | não precisa reenviar | hoeft het bericht niet opnieuw | hoeft niet opnieuw |
    nie trzeba ponownie | nie musisz ponownie | nie ma potrzeby ponown | не нужно отправлять | не требуется отправлять | повторно отправлять не | отправлять повторно не | yeniden göndermeniz gerekm | tekrar göndermeniz gerekm |
    není třeba znovu | není nutné znovu | nem kell újra | nu este nevoie să retrimite | behöver inte skicka | behøver ikke at sende | trenger ikke å sende | ei tarvitse lähettää uudelleen | 再送する必要はありません | 再送信する必要はありません | 再送信は不要 | 再送は不要 |
    无需重新发送 | 不需要重新发送 | 無需重新發送 | 不需重寄 | 다시 보낼 필요 | 다시 보내실 필요 | không cần gửi lại | tidak perlu mengirim ulang | do not need to re-send | don't need to resend | no need to resend | need not resend | warning message only |
    warning only | is only a warning | will be retried | will retry | will keep trying | will continue to try |
    will continue to attempt | still being retried | still trying | has been delayed | has not yet been delivered |
    not yet been delivered | not been delivered yet | could not be delivered yet | is delayed for | only a temporary failure |
    will try to deliver | will be tried again | delivery attempts will continue | attempts to deliver the message will continue |
    delivery status notification (delay) | delayed mail | delivery delayed | delivery is delayed | delay report | message delayed |
    not delivered yet | wird weiterhin versucht | verzögert | noch nicht zugestellt | a été retardé | se ha retrasado | è in ritardo |
    задержано | 配送が遅れ | 再送を試み | 延迟 | wurde verzögert | remise est retardée | est retardée | remise retardée | pas encore été remis |
    pas encore été distribué | n'a pas encore été | se ha aplazado | todavía no se ha entregado | aún no se ha entregado |
    seguirá intentando | non è stato ancora recapitato | non è ancora stato recapitato | è stato ritardato | ainda não foi entregue |
    foi adiada | está atrasada | is vertraagd | nog niet bezorgd | nog niet afgeleverd | är försenad | har försenats | ännu inte levererats |
    er forsinket | endnu ikke leveret | ennå ikke levert | viivästyy | on viivästynyt | ei ole vielä toimitettu | opóźnion |
    nie została jeszcze dostarczona | nie zostało jeszcze dostarczone | zpožděn | zatím nebyla doručena | késik | késleltet |
    a fost întârziat | доставка задерживается | отложена | ще не доставлено | gecikti | gecikmiş | geciktirildi | καθυστερ |
    配信が延期 | まだ配信され | 尚未传递 | 尚未送达 | 传递延迟 | 延遲 | 지연`);

/** Words of a final failure; they win over those of a delay. */
export const FAILURE_WORDINGS = splitList(`
    permanent error | permanent fatal error | failed permanently | permanent failure | i've given up | giving up |
    will be deleted from queue | no further delivery attempts | not going to try again | was aborted after |
    delivery status notification (failure)`);

/** Words of a report about mail that was not delivered, in a subject or a text. */
export const BOUNCE_WORDINGS = splitList(`
    undeliverable | undelivered | undeliver | non-deliverable | nondeliverable | unable to deliver | unable to be delivered |
    not be delivered | cannot be delivered | can't be delivered | couldn't be delivered | wasn't able to deliver | not able to deliver |
    could not deliver | could not send | trouble delivering | error sending your mail | error delivering | trying to deliver the mail |
    problem delivering | delivery failure | delivery failed | delivery has failed | delivery fail | delevery | failure delivery |
    failed delivery | delivery to the following | delivery error | delivery status | delivery notification | delivery report |
    delivery problem | delivery incomplete | delivery unsuccessful | mail failure | mail failed | mail system error | failure notice |
    failure notification | failure report | returned mail | returning message | returning to sender | returned to sender |
    return to sender | did not reach the following | rejected mail | message rejected | message blocked | mail blocked |
    could not be processed | permanent fatal error | transcript of session | delivery errors | unzustellbar | nicht zugestellt |
    zustellung fehlgeschlagen | non remis | non distribu | no se pudo entregar | no entregado | mancato recapito | non recapitabile |
    mancata consegna | não entregue | não foi entregue | falha na entrega | onbestelbaar | niet worden bezorgd | kan ikke leveres |
    kunne ikke leveres | gick inte att leverera | toimittaminen epäonnistui | niedostarczon | nie dostarczon | nedoručiteln |
    nelze doručit | не доставлено | недоставленное | не может быть доставлено | не доставлен | доставка невозможна | teslim edilemedi |
    δεν παραδόθηκε | 送信できません | 配信できません | 配送エラー | 送信エラー | 配信エラー | 送達できません | 届けることができません | 退信 | 无法投递 | 無法傳送 | 投递失败 | 寄送失败 | 배달 실패 |
    전송 실패 | không gửi được | message you sent | group you tried to contact | are not member | not a member of this mailing list |
    adresse invalide | invalid user address | failure reasons | konnte nicht zugestellt | nicht zugestellt werden | zustellungsfehler |
    fehler beim zustellen | n'a pas pu être remis | n'a pas été remis | n'a pas été distribué | n'a pas pu être distribué |
    n'a pas atteint | échec de la remise | echec de distribution | error de entrega | no se ha entregado | no se pudo enviar |
    no se puede entregar | recapito non riuscito | impossibile recapitare | possibile recapitare | non è stato recapitato |
    falha ao entregar | não foi possível entregar | não é possível entregar | de bezorging | kon niet worden bezorgd |
    kan niet worden bezorgd | kunde inte levereras | kan inte levereras | fejl ved levering | levering mislykkedes | leveringsfejl |
    leveringen mislyktes | nie można dostarczyć | nie udało się dostarczyć | nedoručen | doručení | nem kézbesíthető | kézbesíthetetlen |
    kézbesítése | nu a putut fi livrat | nelivrat | сбой доставки | не удалось доставить | не удается доставить | недоставлен |
    не може бути доставлен | не доставлено | teslim edilemiyor | gönderilemedi | iletilemedi | δεν ήταν δυνατή η παράδοση |
    לא נמסרה | תקלת מסירה | تعذر التسليم | فشل التسليم | 配信に失敗 | 配信不能 | 配信されませんでした | 届きませんでした | 未传递 | 传递失败 |
    被退回 | 无法送达 | 無法傳遞 | 傳遞失敗 | 전송되지 못 | 배달되지 | 발송에 실패 | 발송 실패 | 전송 실패 | không thể gửi | tidak terkirim |
    gagal terkirim | ส่งไม่สำเร็จ | ไม่สามารถส่ง | livrarea nu a reușit | neuspešn | ni uspela | nije uspjela | nije uspela | неуспешна |
    nepavyko pristatyti | nepristatyt | neizdevās | nepiegād | nurjus | edastamatu | no s'ha pogut lliurar | tókst ekki | تحویل ناموفق |
    डिलीवर नहीं | informe de error de entrega | rapporto di mancata consegna | 配信障害 | non consegnat`);

/** Words that mean this only in mail of a mail server. */
export const SERVER_BOUNCE_WORDINGS = splitList(`
    not delivered | mail error | was not received | bounce | message status | mail status | not sent | fehlgeschlagen | échec |
    no se ha podido | devuelto | devolvid
`);

/** Local parts of mail servers, in the From field. */
export const DAEMONS = splitList(`
    mailer-daemon | mailerdaemon | mailer.daemon | postmaster | post_master | post-master | mail-daemon | maildaemon | mail.delivery |
    mail-delivery | maildelivery | mta | mdaemon | mail-system | mailsystem | mail.system | mail-admin | mailadmin | ndr | bounce |
    bounces | daemon | mmdf | mailer | network-mailer | uucp | smtp-gateway | mailgateway | mail-gateway | mailrouter`);

/** Splits a list of wordings. */
export function splitList(text: string): readonly string[] {
  return text.split('|').map((wording) => wording.trim());
}
