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

/** The start of the subject of a reply that a program wrote for its user. */
export const AUTOMATIC_SUBJECTS = splitList(`
    automatic reply | auto reply | message status - | niet aanwezig | ikke til stede | ikke på kontoret | inte på kontoret | not in the office | i am currently out | i'm currently out | i am out of | i'm out of | ich bin im urlaub | ich bin nicht im | ich bin abwesend | je suis en cong | je suis absent | estoy de vacaciones | estoy fuera | sono in ferie | sono fuori | estou de férias | estou fora | ik ben op vakantie | ik ben afwezig | jestem na urlopie | jestem nieobecn | jag är på semester | jeg er på ferie | jeg har ferie | olen lomalla | szabadságon vagyok | jsem na dovolené | som na dovolenke | sunt în concediu | я в отпуске | я у відпустці | tatildeyim | izindeyim | είμαι σε άδεια | אני בחופשה | أنا في إجازة | 休暇中 | 休暇をいただ | 正在休假 | 휴가 중 | nicht im büro | nicht am platz | auto-reply | autoreply | auto: | auto response | auto-response | autoresponse | autorespon |
    automated reply | automated response | out of office | out of the office | out-of-office | ooo: | on vacation | vacation |
    away from | away until | i am away | on leave | on holiday | automatische antwort | abwesen | automatische reaktion |
    réponse automatique | absence | absent | message d'absence | respuesta automática | fuera de la oficina | risposta automatica |
    fuori sede | resposta automática | ausência | automatisch antwoord | automatisch bericht | afwezig | autosvar | automatisk svar |
    automatiskt svar | frånvar | fravær | automaattinen vastaus | poissa | automatyczna odpowiedź | autoodpowiedź |
    automatická odpověď | автоматический ответ | автоответ | автоматична відповідь | otomatik yanıt | αυτόματη απάντηση |
    תשובה אוטומטית | رد تلقائي | 自動返信 | 自動応答 | 不在 | 自动回复 | 自動回覆 | 자동 회신 | 자동 응답 | 자동 답장 | 부재중 | thư trả lời tự động | trả lời tự động | odpowiedź automatyczna | automatikus válasz |
    răspuns automat | автоматичен отговор | автоматски одговор | аутоматски одговор | automatski odgovor | samodejni odgovor |
    automatická odpoveď | automatinis atsakymas | automātiska atbilde | automaatvastus | automaatne vastus | resposta automàtica |
    erantzun automatikoa | sjálfvirkt svar | përgjigje automatike | ตอบกลับอัตโนมัติ | การตอบกลับอัตโนมัติ | balasan otomatis | jawaban otomatis |
    balasan automatik | स्वचालित उत्तर | स्वतः उत्तर | پاسخ خودکار | स्वचालित जवाब | 自动答复 | 自動答覆 | 自动应答 | 自動回信 | автовідповідь |
    автоответчик | [ooo] | [부재중 | [자동 | 【自動 | 【不在 | ooo - | ooo – | (ooo) | [auto | auto-svar | autosvarar | autoresposta | autorespuesta | autorisposta | urlaubsbenachrichtigung |
    ferienabwesenheit | büroabwesenheit | nieobecność | nepřítomnost | távollét | отсутствие | távolléti | en vacances | de vacaciones | in ferie | na dovolenej | na urlopie`);

/** Parts of words for `automatic` and `reply` in many languages: both at the begin of a subject mark such a reply. */
export const AUTOMATIC_STEMS =
  'automat|automát|autómat|auto-|avtomat|awtomat|otomat|outomat|uathoib|sjálfvirk|samodej|автомат|аўтамат|аутомат|αυτόματ|αυτοματ|אוטומט|تلقائ|خودکار|स्वचालित|स्वयंचलित|स्वतः|স্বয়ংক্রিয়|স্বয়ংক্রিয়|தானியங்கு|தானியக்க|ಸ್ವಯಂಚಾಲಿತ|സ്വയമേവ|യാന്ത്രിക|స్వయంచాలక|સ્વચાલિત|ਸਵੈਚਾਲਿਤ|ස්වයංක්‍රීය|อัตโนมัติ|ອັດຕະໂນມັດ|ស្វ័យប្រវត្តិ|tự động|自動|自动|자동|ავტომატ|ավտոմատ|ራስ-ሰር';
export const REPLY_STEMS =
  'repl(?:y|ied)|respon|answer|rückmeld|benachrichtig|mitteil|nachricht|messag|mensaj|mensag|notif|bericht|melding|meddel|сообщ|повідом|wiadomo|zpráv|správ|mesaj|通知|メール|안내|邮件|antwo|äntwert|svar|vastau|vastus|válasz|odpov|odpow|odgov|отгов|ответ|одговор|відпов|адказ|жауап|җавап|жооп|хариу|cavab|javob|yanıt|cevap|répon|respue|rispo|respost|răspun|raspun|atsak|atbild|απάντη|απαντη|תשוב|מענה|(?<!\\p{L})رد|جواب|پاسخ|उत्तर|जवाब|जवाफ|উত্তর|জবাব|பதில்|ಪ್ರತ್ಯುತ್ತರ|ಉತ್ತರ|മറുപടി|ప్రత్యుత్తర|సమాధాన|જવાબ|ਜਵਾਬ|පිළිතුර|ตอบ|ຕອບ|ឆ្លើយតប|trả lời|balas|jawab|tugon|返信|応答|回复|回覆|答复|答覆|应答|回信|회신|응답|답장|პასუხ|պատասխան|erantzun|përgjigj|ateb|freagra|tweġiba|jibu|impendulo|ምላሽ';

/** Parts of words for an absence and for a notice: a subject of both alone marks such a reply. */
export const ABSENCE_STEMS =
  'absen[ct]|abwesen|urlaubs|vacation|vacanc|vacacion|ferien|ferie|férias|holiday|congé|vakantie|afwezig|frånvaro|fravær|urlop|nieobecno|dovolen|nepřítomn|neprítomn|szabadság|távollét|concedi|отпуск|отсутств|відпустк|izin|tatil|απουσία|חופשה|إجازة|休假|休暇|休職|不在|外出|出差|出張|휴가|부재|출장';
export const NOTICE_STEMS =
  'notif|notiz|notice|avis(?!o)|aviso|avviso|benachrichtig|powiadom|zawiadom|oznámen|értesít|notificar|уведомлен|сповіщ|bildirim|ειδοποίησ|הודעת|إشعار|通知|お知らせ|のお知らせ|のご連絡|提醒|안내|알림';

/** Behind how a message speaks of itself: what it denies, or is about. */
export const ABOUT_WORDS =
  "about|regarding|concerning|from|why|how|whether|not|no|isn't|über|zu|wegen|warum|nicht|kein\\p{L}{0,2}|sur|à|pas|pourquoi|concern\\p{L}{1,4}|sobre|acerca|respecto|riguardo|su|non|não|over|niet|geen|om|inte|ikke|dotyczy|nie|про|о|об|не|hakkında|değil";
/** Says that someone is away, beside {@link ABSENCE_STEMS}, and what such a notice adds: whom to ask instead, and when the mail will be read. */
export const AWAY_WORDS =
  'out of (?:the )?office|away from (?:the |my )?office|on (?:\\p{L}{3,12} )?leave(?!\\p{L})|nicht im (?:büro|haus|dienst)|außer haus|im urlaub|elternzeit|fuera de (?:la )?oficina|fuori ufficio|fora do escritório|niet (?:aanwezig|op kantoor)|(?:ikke|inte) (?:på kontoret|til stede)|semester|orlov|permis(?:j|s)on|lomalla|poissa|poza biurem|mimo kancelář|нет в офисе|вне офиса|не в офисе|ofis dışında|yıllık izin';
export const ASIDE_WORDS =
  "(?:limited|no|without|little) access to (?:my )?(?:e-?mails?|messages|inbox)|(?:when|once|as soon as) i (?:return|get back|am back)|(?:upon|on|after) my return|in urgent (?:cases|matters)|for (?:any )?urgent|(?:is|if) urgent|in my absence|(?:kein(?:en)?|nur eingeschränkten?) zugriff|in dringenden (?:fällen|angelegenheiten)|bei dringenden|nach meiner rückkehr|während meiner abwesenheit|nicht weitergeleitet|(?:pas|peu) accès à|en cas d['’]urgence|pour toute urgence|à mon retour|(?:en|pendant) mon absence|(?:sin|tendré) acceso|en caso de urgencia|(?:asuntos|temas) urgentes|a mi (?:regreso|vuelta)|en mi ausencia|al mio rientro|in caso di urgenz|per urgenze|in mia assenza|em caso de urgência|no meu regresso|ao retornar|assuntos urgentes|na minha ausência|dringende (?:zaken|gevallen|vragen)|bij spoed|na mijn (?:terugkeer|vakantie)|tijdens mijn afwezigheid|brådskande|hastende|ved behov for hurtig|när jag är (?:tillbaka|åter)|når jeg er (?:tilbage|tilbake)|kiireellis|w pilnych sprawach|po powrocie|mojej nieobecności|v naléhavých|po (?:svém )?návratu|sürgős|în cazuri urgente|по срочным|в мо[её] отсутствие|после (?:моего )?возвращения|у термінових|acil (?:durum|konu)|dönüşümde|επείγον|דחופ|للحالات العاجلة|緊急の|お急ぎの|返信が遅れ|以降に(?:ご)?(?:返信|連絡)|急事|紧急(?:事|情|联)|(?:回来|返回|上班)后|급한 |긴급한|복귀 후";

/** How a message speaks of itself, and of the mailbox that it is from. */
export const THIS_MESSAGE =
  'this|dies|das ist|diese (?:e-?mail|nachricht|antwort)|ceci|ce (?:message|courriel|mail)|cet e-?mail|cette réponse|est[eo]|esta respuesta|quest[oa]|esta|isto|dit|deze|dette|denne|det (?:här|her)|detta|to jest|ta wiadomość|niniejsza|tämä|toto|tato|táto|ez egy|ez az|acest|aceasta|это|данное|це|bu|αυτό|זוהי|זו|هذه|هذا|این|यह|นี่|đây|ini|本|此|这是|這是|该邮件|この|これは|이 |본 ';
export const THIS_MAILBOX =
  'this (?:e-?mail |mail )?(?:mailbox|inbox|address)|dies(?:e|es) (?:e-?mail-?|mail-?)?(?:adresse|postfach)|cette (?:adresse|boîte)|esta dirección|este (?:buzón|correo)|quest[oa] (?:casella|indirizzo)|este endereço|esta caixa|(?:dit|deze) (?:e-?mail-?|mail-?)?(?:adres|postvak|mailbox)|den(?:na|ne|här) (?:e-?post|mail|e-?mail)?-?(?:adress|postkass)|ten adres|ta skrzynka|tato (?:adresa|schránka)|ez a (?:cím|postafiók)|(?:этот|данный) (?:почтовый )?(?:адрес|ящик)|bu (?:e-?posta )?(?:adres|posta kutusu)|此(?:邮箱|地址|信箱)|本(?:邮箱|信箱)|(?:この|当)(?:メール)?アドレス|이 (?:메일|주소)';
export const UNREAD_WORDS =
  "(?:is|are) (?:not|un)[ -]?(?:being )?(?:monitored|read|checked|attended|staffed)|is (?:not|never) (?:read|monitored|checked)|no longer (?:monitored|in use|used|active|read|checked|valid|attended)|nicht (?:mehr )?(?:gelesen|verwendet|genutzt|benutzt|aktiv|überwacht|abgerufen|betreut|bearbeitet)|n['’]est (?:pas|plus) (?:consulté|lu|utilisé|surveillé|acti[fv]|relevé)|no (?:se (?:lee|revisa|monitorea|supervisa)|está (?:monitoread|supervisad|atendid))|ya no (?:se (?:usa|utiliza|lee|revisa)|está (?:en uso|activ))|non (?:è|viene) (?:più )?(?:lett|monitorat|utilizzat|attiv|presidiat|controllat)|não (?:é|está) (?:mais )?(?:monitorad|lid|utilizad|ativ|usad)|(?:wordt|is) niet (?:meer )?(?:gelezen|gebruikt|in gebruik|actief|gecontroleerd)|(?:läses|bevakas|används|læses|leses|brukes|bruges) (?:inte|ikke)|nie jest (?:już )?(?:używan|sprawdzan|monitorowan|czytan|aktywn)|se (?:již )?(?:nepoužívá|nečte)|не (?:используется|проверяется|читается|обслуживается)|kullanılmamakta|kullanılmıyor|不再使用|无人(?:值守|查看)|已停用|使用(?:して|されて)(?:おりません|いません)|사용(?:하지 않|되지 않)";

/** What follows a name in the subject of such a reply: `Ann Smith is out of the office (returning Monday).` */
export const ABSENT_WORDINGS = splitList(`
    is out of the office | is out of office | is away from the office | is currently out of the office | is on vacation | is on leave |
    will be out of the office | am out of the office | am out of office | ist außer haus | ist ausser haus | ist nicht im büro | ist im urlaub |
    ist abwesend | ist nicht im hause | est absent | est absente | est absent(e) | est en congé | est en congés | est absent du bureau |
    est absente du bureau | est absent(e) du bureau | está fuera de la oficina | está ausente | está de vacaciones | è fuori ufficio |
    è fuori sede | è assente | è in ferie | está fora do escritório | está de férias | is afwezig | is niet aanwezig | is niet op kantoor |
    är inte på kontoret | är frånvarande | är på semester | er ikke til stede | er ikke på kontoret | er på ferie | on poissa |
    on lomalla | jest nieobecny | jest nieobecna | jest na urlopie | není v kanceláři | je mimo kancelář | nincs az irodában |
    отсутствует на рабочем месте | в отпуске | у відпустці`);

function splitList(text: string): readonly string[] {
  return text.split('|').map((wording) => wording.trim());
}
