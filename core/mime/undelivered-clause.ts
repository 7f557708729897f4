/**
 * Words of one language, lower case, as parts of regular expressions. A clause with a word for the message and one that says that it came
 * back is a report, in any order; so is one with words of waiting about a message that is still tried.
 */
interface MessageWords {
  message: string;
  undelivered: string;
  waiting: string;
}

const LANGUAGES: readonly MessageWords[] = [
  {
    message: String.raw`messages?|e-?mails?|mail|letter|delivery|it`,
    undelivered: String.raw`(?:not|never|n't|nor) (?:be |been |get |able to |possible to )?(?:passed|deliver|accept|reach|arriv|forward|handed|transmit|process|receiv|sent|pick|answer|respond|take|got through|get through|relay|taken)|turned (?:away|down)|reject|refus|bounc(?:ed|ing)|c(?:a|o)mes? back|coming back|sent back|return(?:ed|ing)|dropped|gave up|given up|discard|declin|blocked|fail(?:ed|ure|s)|go(?:es)? nowhere|undeliver|unable to (?:deliver|send|pass|hand)|quarantin`,
    waiting: String.raw`still (?:waiting|stuck|queued|in (?:the|our) queue|being|trying|pending)|remains? (?:queued|in (?:the|our) queue)|(?:will|we|to) (?:keep|go on|continue|carry on)(?: on)? (?:to )?try|go on trying|not yet (?:been )?(?:deliver|reach|accept|left)|next (?:try|attempt)|try(?:ing)? again (?:for|until|every)|held up`,
  },
  {
    message: String.raw`nachricht(?:en)?|mail|e-?mail|zustellung|schreiben|sendung|post|sie`,
    undelivered: String.raw`nicht (?:\p{L}{1,30} )?(?:angekommen|zugestellt|ausgeliefert|übermittelt|weitergeleitet|angenommen|zustellbar|übergeben|abgeliefert|versendet|gesendet|verschickt|erreicht|zustellen)|gescheitert|fehlgeschlagen|kommt zurück|zurück(?:gewiesen|gesandt|geschickt|gesendet|gekommen)|kam zurück|abgelehnt|abgewiesen|verweigert|verworfen|unzustellbar|geblockt|blockiert|missglückt|unmöglich`,
    waiting: String.raw`noch in (?:der|unserer|einer) (?:\p{L}{1,30} )?(?:schlange|liste)|wird (?:\p{L}{1,30} ){0,2}(?:wieder|erneut|nochmals|noch einmal) (?:versucht|probiert|zugestellt)|(?:nochmals|erneut|wieder) versuchen|bisher nicht|vorerst nicht|noch in (?:der|unserer|einer) (?:\p{L}{0,30}warteschlange|queue)|(?:versuchen|versucht) es weiter|weiter(?:hin|e)? (?:versuch|zustellversuch)|noch nicht (?:zugestellt|ausgeliefert|angekommen)|nächster (?:versuch|zustellversuch)|dauert an|verzöger`,
  },
  {
    message: String.raw`messages?|courriels?|e-?mails?|mail|mél|courrier|envoi`,
    undelivered: String.raw`(?:n'a|n’a|n'ont|n'est|n’est|n'a pas|n'ayant) (?:pu |pas |pas pu |jamais )?(?:être |été )?(?:déposé|remis|distribué|délivré|livré|acheminé|transmis|envoyé|accepté|parvenu|arrivé|reçu)|impossible (?:d'|d’|de |à )(?:acheminer|remettre|distribuer|délivrer|livrer|transmettre|envoyer)|revenu|retourné|renvoyé|refusé|rejeté|échec|échoué|bloqué|abandonn`,
    waiting: String.raw`(?:toujours|encore) en (?:attente|file)|(?:nous )?réessa\p{L}{1,30}|retenter\p{L}{0,30}|nouvel essai|pour l['’]instant|(?:poursuit|poursuiv|continue)\p{L}{0,30} (?:d['’]essayer|les essais|ses essais)|à nouveau (?:tenté|essayé)|continu\p{L}{1,30} (?:les|nos|ses|à|d') ?(?:essais|tentatives|essayer)|nouvelles? tentatives?|sera réessayé|retardé|pas encore`,
  },
  {
    message: String.raw`mensajes?|correos?|e-?mails?|mail|envío|entrega`,
    undelivered: String.raw`(?:no|nunca) (?:se (?:ha |pudo |pued\p{L}{1,30} )?|ha |ha sido |fue |pudo |ha podido )?(?:ser )?(?:lleg|entreg|enviad|enviar|aceptad|recibid|remitid|transmit|cursad)|rechazad|devuelt|rebotad|regresó|volvió|fall(?:ó|ido|ado|o)|bloquead|descartad|denegad|imposible`,
    waiting: String.raw`(?:sigue|está|permanece|continúa) (?:aún |todavía )?en (?:la )?(?:cola|espera)|(?:se )?(?:volverá|volveremos|seguirá|seguiremos|continuará|continuaremos) (?:a )?(?:intent|prob)\p{L}{0,30}|se reintentar\p{L}{0,30}|reintent\p{L}{0,30}|por ahora|de momento|próximo intento|(?:seguir\p{L}{1,30}|lo) (?:intent|volver)\p{L}{1,30}|intentaremos|nuevos? intentos?|retrasad|demorad|todavía no|aún no`,
  },
  {
    message: String.raw`messaggi[oi]?|mail|e-?mail|posta|lettera|consegna|invio`,
    undelivered: String.raw`non (?:è |e' |è stat[oa] |ha |può |puo' |poteva |è possibile )?(?:essere )?(?:arrivat|consegnat|recapitat|inviat|accettat|raggiunt|trasmess|ricevut|consegnare|recapitare|inoltrat)|tornat[oa] indietro|restituit|respint|rifiutat|fallit|bloccat|scartat|impossibile`,
    waiting: String.raw`(?:ancora|tuttora|sempre) in (?:coda|attesa)|(?:si |verrà |sarà )?(?:ritentat|riprovat)\p{L}{0,30}|prossimo tentativo|per ora|al momento non|ulteriori tentativi|nuovamente (?:tentat|provat)\p{L}{0,10}|(?:continuer|riprover|ritent)\p{L}{1,30}|nuovi tentativi|nuovo tentativo|ritardat|non ancora|ritardo`,
  },
  {
    message: String.raw`mensage(?:m|ns)|e-?mails?|mail|correio|entrega|envio`,
    undelivered: String.raw`(?:não|nao|nunca) (?:foi |pôde |pode |p[oô]de ser |foi possível |será |chegou a )?(?:ser )?(?:cheg|entreg|enviad|enviar|aceit|recebid|transmitid|encaminhad)|volt(?:ou|aram)|devolvid|recusad|rejeitad|retornad|falh(?:ou|a)|bloquead|descartad|impossível`,
    waiting: String.raw`(?:ainda|continua|permanece|está) (?:está )?na (?:nossa )?fila|tentaremos|tentará|será tentad[ao]|próxima tentativa|por enquanto|por agora|reenviad[ao] automaticamente|(?:em|à) espera|(?:continuar|tentar)\p{L}{1,30} (?:a )?(?:tentar|novamente|entregar|por mais)|novas? tentativas?|atrasad|ainda não`,
  },
  {
    message: String.raw`bericht(?:en)?|e-?mail|mail|brief|bezorging|levering`,
    undelivered: String.raw`niet (?:\p{L}{1,30} )?(?:aangekomen|bezorgd|afgeleverd|geleverd|verzonden|verstuurd|ontvangen|geaccepteerd|bezorgen|afleveren|doorgestuurd)|teruggekomen|teruggestuurd|terugbezorgd|geweigerd|afgewezen|mislukt|geblokkeerd|onbestelbaar|onmogelijk`,
    waiting: String.raw`(?:nog|blijft) (?:steeds )?in de (?:wachtrij|rij)|(?:blijft|blijven) (?:het )?proberen|opnieuw (?:geprobeerd|proberen)|wordt opnieuw|volgende poging|vooralsnog|voorlopig niet|(?:blijven|proberen) (?:we )?(?:het )?(?:nog|proberen|opnieuw)|nieuwe poging|vertraagd|nog niet`,
  },
  {
    message: String.raw`wiadomoś\p{L}{1,30}|e-?mail|mail|list|poczta|przesyłk\p{L}{1,30}`,
    undelivered: String.raw`nie (?:została |został |może |mogła |można |udało się )?(?:być |zostać )?(?:dotar|dostarcz|doręcz|wysłan|przyjęt|przekazan|przesłan|odebran)|wróciła|wrócił|zwrócon|odrzucon|odmówion|zablokowan|niedoręcz|niedostarcz|niepowodzeni`,
    waiting: String.raw`(?:nadal|wciąż|jeszcze) (?:jest |oczekuje |czeka )?w kolejce|(?:będzie|będziemy) (?:nadal )?(?:ponawia|próbowa)\p{L}{0,10}|ponawia\p{L}{1,30}|następna próba|na razie|(?:nadal|wciąż) (?:oczekuje|czeka|próbuj)|kolejn\p{L}{1,30} pró|ponow\p{L}{1,30} pró|opóźnion|jeszcze nie`,
  },
  {
    message: String.raw`писем|письм\p{L}{1,30}|сообщени\p{L}{1,30}|лист\p{L}{0,2}|повідомлен\p{L}{1,30}|доставк\p{L}{1,30}|почт\p{L}{1,30}|писмо\p{L}{0,30}|съобщение\p{L}{0,30}`,
    undelivered: String.raw`не (?:был[аои]? |может быть |удалось |могло быть |удаётся |удается |было |може бути |вдалося )?(?:доставлен|доставить|отправлен|отправить|принят|передан|получен|доставлять|вручен|дошло|дошел|прийнят|доставити|надіслан|доставено|изпратено)|вернулось|возвращен|возвращён|отклонен|отклонён|отвергнут|отказ|заблокирован|недостав|невозможн|провал|відхилен|поверн|върнат|отхвърл`,
    waiting: String.raw`(?:пока|ещё|еще|все ещё|всё ещё|досі|ще) (?:находится |стоит |ожидает |в черзі )?(?:в очереди|в черзі)|(?:сервер |мы )?(?:будет|будем|продолжит|продолжим|повторит|повторим) (?:пыта|попыт|доставк|отправк)\p{L}{0,30}|следующая попытка|пока не|поки що|наступна спроба|ще не|все още|следващ опит|попытки (?:продолж|будут)|повторн\p{L}{1,30} попыт|ожидает|задерж|ещё не|еще не|спроб\p{L}{1,30} (?:продовж|триват)`,
  },
  {
    message: String.raw`brev|mejl|mail|e-?post|e-?mail|meddelande\p{L}{0,30}|besked|meddelelse\p{L}{0,30}|melding\p{L}{0,30}|levering\p{L}{0,30}`,
    undelivered: String.raw`(?:inte|ikke|ej) (?:\p{L}{1,30} )?(?:fram|frem|lever\p{L}{1,30}|skick\p{L}{1,30}|send\p{L}{1,30}|sendt|mott\p{L}{1,30}|modt\p{L}{1,30}|tas emot|accepter\p{L}{1,30}|afleveres|nå\p{L}{0,30})|avvis|afvis|returner|tilbage(?:sendt|vist)|kom tilbake|kommit tillbaka|kom retur|misslyck|mislykk|mislyk|nekad|nægtet|blocker|blokker|blokeret|studsa`,
    waiting: String.raw`(?:fortfarande|stadig|fortsatt|ännu|fremdeles) (?:i|kvar i|in) (?:vår |vores |vår )?(?:kö|kø|utgående)|(?:ännu|endnu|ennå) (?:inte|ikke)|(?:försöker|prøver|forsøger|forsøker) igen|(?:försöker|prøver|forsøker) igjen|(?:nästa|næste|neste) (?:försök|forsøg|forsøk)|fortsætter med at|fortsätter att|(?:fortsätter|fortsætter|fortsetter) (?:att |at |å )?(?:försöka|prøve|forsøge)|nytt försök|nyt forsøg|försen|forsink`,
  },
  {
    message: String.raw`viesti\p{L}{0,30}|sähköposti\p{L}{0,30}|posti\p{L}{0,30}`,
    undelivered: String.raw`ei (?:voitu |voida |ole |onnistut\p{L}{1,30} |saatu )?(?:toimit\p{L}{1,30}|perillä|lähet\p{L}{1,30}|välit\p{L}{1,30}|vastaanot\p{L}{1,30})|palautet|hylät|hylk|epäonnistu|torjut|estet|palasi`,
    waiting: String.raw`(?:edelleen|yhä|vielä) jonossa|yritämme|yrittää (?:uudelleen|edelleen)|seuraava yritys|toistaiseksi|yritetään (?:uudelleen|edelleen)|jatketaan|viiväst|ei vielä`,
  },
  {
    message: String.raw`zpráv\p{L}{1,30}|správ\p{L}{1,30}|e-?mail\p{L}{0,30}|mail|pošt\p{L}{1,30}`,
    undelivered: String.raw`ne(?:byla|byl|mohla|mohl|bola|mohla byť|podařilo se|podarilo sa)? ?(?:být |byť )?(?:doruč|odeslán|odoslan|přijat|prijat|doručit|doručiť)|vrátil|vrácen|vrátená|odmítnut|odmietnut|zamítnut|selhal|zlyhal|zablokov`,
    waiting: String.raw`(?:stále|zatím|dosud|ešte) (?:čeká |je )?ve? (?:frontě|fronte)|(?:bude|budeme|budú) (?:dále |ďalej |i nadále |naďalej )?(?:zkouš|skúš|pokoušet|pokúšať|opakov)\p{L}{0,10}|zatím ne|zatiaľ ne|dalš\p{L}{1,3} pokus|ďalš\p{L}{1,3} pokus|znovu (?:zkus|pokus)\p{L}{0,10}|pokus\p{L}{0,30} (?:budou )?pokrač|další pokus|zpožděn|meškan|dosud ne`,
  },
  {
    message: String.raw`level\p{L}{0,30}|üzenet\p{L}{0,30}|e-?mail\p{L}{0,30}|küldemény\p{L}{0,30}`,
    undelivered: String.raw`visszajött|visszaérkez|visszaküld|visszautas|elutas|nem (?:sikerült|lehetett|tudtuk|érkezett|kézbesíthet\p{L}{0,30}|továbbíthat\p{L}{0,30})|sikertelen|kézbesíthetetlen`,
    waiting: String.raw`(?:még|továbbra is) (?:mindig )?(?:vár|a várakozási|sorban)|még nem|újabb (?:kísérlet|próbálkozás)|következő kísérlet|tovább (?:próbál|kísérle)\p{L}{0,10}|újra (?:próbál|megpróbál)|próbálkoz\p{L}{0,30} (?:még|tovább)|késik|késleltet`,
  },
  {
    message: String.raw`ileti\p{L}{0,30}|mesaj\p{L}{0,30}|e-?posta\p{L}{0,30}|mail\p{L}{0,30}|posta`,
    undelivered: String.raw`geri (?:dön|çevril|gönderil)|iade|reddedil|ulaş(?:ma|tırılama|tırılamıyor)\p{L}{0,30}|teslim edil(?:eme|mem|emiyor)\p{L}{0,30}|gönderileme\p{L}{0,30}|iletileme\p{L}{0,30}|başarısız|engellen`,
    waiting: String.raw`(?:hâlâ|hala|halen) (?:kuyrukta|sırada|bekl)|henüz|(?:denemeye|denemeleri?) (?:devam|sür)|yeniden denenecek|tekrar denenecek|sonraki deneme|tekrar (?:denen|dene)|yeniden den|gecik|kuyruk`,
  },
  {
    message: String.raw`μήνυμα|μηνύμα\p{L}{1,30}|αλληλογραφ\p{L}{1,30}|e-?mail`,
    undelivered: String.raw`δεν (?:\p{L}{1,30} ){0,3}(?:παραδ|παράδο|σταλ|έφτασ|έγινε δεκτ|αποστ)\p{L}{0,30}|επιστράφηκ|απορρίφθηκ|απέτυχ|αποτυχ`,
    waiting: String.raw`(?:ακόμα|ακόμη) (?:στην|σε) ουρά|δεν έχει ακόμ|(?:θα )?(?:συνεχί|ξαναπροσπαθ|επαναλ)\p{L}{1,30}|επόμενη προσπάθεια|προς το παρόν|συνεχί\p{L}{1,30} (?:τις|να)|νέα προσπάθεια|καθυστ`,
  },
  {
    message: String.raw`mesaj\p{L}{0,30}|e-?mail\p{L}{0,30}|scrisoare\p{L}{0,30}`,
    undelivered: String.raw`nu a (?:putut fi |fost |ajuns)?(?:livrat|trimis|acceptat|ajuns|transmis|primit)?|s-a întors|returnat|respins|refuzat|eșuat|blocat|imposibil`,
    waiting: String.raw`(?:încă|tot) (?:este )?în (?:coadă|așteptare)|încercăr\p{L}{1,10} (?:continuă|vor)|următoarea încercare|deocamdată|nu a fost încă|(?:se )?va (?:încerca|reîncerca)|(?:vom|va) (?:continua|reîncerca)|întârzi|încă nu`,
  },
  {
    message: String.raw`poruk\p{L}{1,30}|sporočil\p{L}{1,30}|порук\p{L}{1,30}|laišk\p{L}{1,30}|vēstul\p{L}{1,30}|ziņojum\p{L}{1,30}|kir[ij]\p{L}{0,30}|missatge|correu`,
    undelivered: String.raw`ni(?:je)? (?:mogl\p{L}{1,30} |bil[oa]? |moguće |mogoče )?(?:isporuč|dostavlj|poslan|primljen|dostavit|uručen)\p{L}{0,30}|vraćen|vrnjen|odbijen|zavrnjen|neuspje|neuspe|није (?:\p{L}{1,30} )?(?:испоручен|достављен)|вратила|nepristat|grąžint|atmest|nav (?:nogādāt|piegādāt)|atgriezt|noraidīt|ei (?:saanud|jõudnud|õnnestunud)|tagastat|lükati tagasi|no s'ha (?:pogut )?(?:lliur|entreg)|retornat|rebutjat`,
    waiting: String.raw`(?:još|še|još|још) (?:uvijek |vedno |uvek )?(?:u redu|v čakalni|у реду)|ponovn\p{L}{1,30} pokuš|kasni|vėluoja|kavējas|hilineb|encara en cua`,
  },
  {
    message: String.raw`邮件|郵件|信件|电邮|來信|来信|消息|投递|您的信`,
    undelivered: String.raw`退回|退信|拒收|拒绝|拒絕|失败|失敗|未能|无法|無法|不能|没有送达|未送达|未送達|被拒|弹回|未投递|被阻止|被拦截|打回`,
    waiting: String.raw`仍在(?:队列|排队|等待|佇列)|(?:系统|服务器)?(?:会|将|將)(?:再次|自动|自動)?(?:重试|重試|尝试|嘗試|重新)|暂时|暫時|还未|還未|等待(?:重试|投递|發送|发送)|尚未|将继续|將繼續|继续尝试|繼續嘗試|稍后重试|重试中|延迟|延遲`,
  },
  {
    message: String.raw`メール|メッセージ|送信|配信|電子メール`,
    undelivered: String.raw`戻(?:って|り|さ)|返送|返却|できません|できなかった|できませんでした|拒否|失敗|届きません|届かな|不能|エラー|お受け取りでき|受け取れ|送れません|断られ|差し戻`,
    waiting: String.raw`(?:待機|再送|キュー|保留|遅延|遅れ|再試行|引き続き)|まだ|しばらく|未だ|再度(?:配信|送信)`,
  },
  {
    message: String.raw`메일|메시지|편지|전자우편|발송|전송`,
    undelivered: String.raw`반송|실패|거부|거절|못했|못하|되지 않|할 수 없|수 없습|차단|되돌`,
    waiting: String.raw`대기 ?(?:중|열)|다시 (?:보내|전송|발송)|재전송|재발송|계속해서|당분간|재시도|다시 시도|지연|계속 시도|아직`,
  },
  {
    message: String.raw`ה?הודע\p{L}{0,30}|מייל|דוא.ל|رسالت\p{L}{0,30}|الرسالة|رسالة|البريد|پیام|ایمیل`,
    undelivered: String.raw`לא נמסר|לא הגיע|חזר|הוחזר|נדח|נכשל|לא ניתן|لم (?:يتم|تصل|تُسلم|تسلم)|تعذر|فشل|رُفض|رفضت|أعيدت|مرفوض|تحویل (?:داده )?نشد|برگشت|رد شد|ناموفق`,
    waiting: String.raw`עדיין (?:בתור|ממתינ)|עדיין לא|טרם|ימשיך לנסות|נמשיך לנסות|ניסיון נוסף|بعد لم|لم (?:يتم|تصل) .{0,30}بعد|سنحاول|سيحاول|سنستمر|سيستمر|هنوز|دوباره تلاش|همچنان تلاش|ננסה שוב|ננסה|نواصل المحاولة|في قائمة الانتظار|ما زالت|تأخر|در صف|تأخیر`,
  },
  {
    message: String.raw`thư|tin nhắn|email|e-mail|pesan|surat|surel|ข้อความ|อีเมล|จดหมาย|संदेश|ईमेल`,
    undelivered: String.raw`không (?:thể |được |gửi |đến )?(?:gửi|chuyển|giao|nhận|đến)|bị (?:trả lại|từ chối|chặn)|thất bại|tidak (?:dapat |bisa |terkirim|sampai|diterima)|ditolak|dikembalikan|gagal|kembali|ไม่สามารถ|ส่งไม่|ถูกปฏิเสธ|ตีกลับ|ถูกส่งคืน|ล้มเหลว|नहीं (?:पहुँच|पहुंच|भेजा|हो सका)|अस्वीकार|लौटा|विफल`,
    waiting: String.raw`vẫn (?:đang|còn) (?:chờ|trong)|chưa (?:được|gửi|chuyển)|thử lại|belum (?:terkirim|dapat|sampai)|akan (?:kami )?coba(?: lagi)?|mencoba lagi|ยังไม่|ลองอีกครั้ง|ลองใหม่|अभी तक नहीं|फिर (?:से )?(?:प्रयास|कोशिश)|sẽ (?:tiếp tục|thử)|trì hoãn|masih (?:dalam|menunggu)|akan (?:terus )?(?:dicoba|mencoba)|tertunda|ยังอยู่ในคิว|จะพยายาม|ล่าช้า|कतार|विलंब`,
  },
];

const MATCHERS = LANGUAGES.map(({ message, undelivered, waiting }) => ({
  message: wordStart(message),
  undelivered: wordStart(undelivered),
  waiting: wordStart(waiting),
}));

/** Words of scripts with spaces begin at a boundary. */
function wordStart(words: string): RegExp {
  return new RegExp(`(?<![\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}\\p{Script=Hebrew}])(?:${words})`, 'u');
}

/** Clauses of a text that are read, and characters of one. */
const MAX_CLAUSES = 40;
const MAX_CLAUSE_LENGTH = 240;
const CLAUSE_END = /[;!?。！？；]|\.(?=\s|$)|\n\s*\n/u;

/**
 * Returns what a text, in lower case, says of a message: that it came back, that it still waits, or nothing that is known (null). Only the
 * mail of mail servers is read like this: people say such things about parcels.
 */
export function fateInClauses(text: string): 'undelivered' | 'waiting' | null {
  let isUndelivered = false;
  for (const clause of text.split(CLAUSE_END, MAX_CLAUSES)) {
    if (clause.length > MAX_CLAUSE_LENGTH) continue;
    for (const { message, undelivered, waiting } of MATCHERS) {
      if (!message.test(clause)) continue;
      if (waiting.test(clause)) return 'waiting';
      isUndelivered ||= undelivered.test(clause);
    }
  }
  return isUndelivered ? 'undelivered' : null;
}
