/**
 * What mail programs write around quoted mail, by language, as parts of regular expressions (flags iu). Languages: English, German, French,
 * Spanish, Italian, Portuguese, Dutch, Danish, Swedish, Norwegian, Finnish, Polish, Czech, Russian, Ukrainian, Turkish, Greek, Hebrew,
 * Arabic, Chinese, Japanese, Korean and Vietnamese; of about 40 more the words that their mail programs write most.
 */

/** Says that someone wrote what follows: `On Monday Ann wrote:`. */
export const WROTE = [
  'wrote|writes|schrieb(?!en)|geschrieben|[ée]crit|escribi[oó]|escribe|scritto|scrive|escreveu|escreve|schreef|geschreven',
  'skrev|skriver|kirjoitti|napisa[łl]|pisze|napsal|написал|писал|пише|написав|пишет|yazdı|έγραψε|έγραφε',
  'напісаў|написа|napisao|napísal|napisa|rakstīja|rašė|kirjutas|idatzi|escribiu|escriure|missatge de|a scris|ha scrit|írta|shkroi|geskryf|skreau|skreiv|skrifaði|ysgrifennodd|scríobh|sgrìobh|skrivet gant|menulis|aliandika|isinulat|yazıb|жазды',
  'წერდა|დაწერა|գրել|نوشت|کتب|لکھا|ने लिखा|লিখেছেন|எழுதியது|เขียน|បានសរសេរ|excerpts from|wiadomość napisana|写于|寫於',
  'כתב|מאת|كتب|كتابة|写道|寫道|写入|のメール|のメッセージ|書きました|さんから|작성|썼습니다|님이|님의|viết',
].join('|');

/** Words with which such lines begin, before a date. */
export const WROTE_LEADS =
  'On|At|Am|Le|O|Pe|La|De la|Dana|Kuupäev|Mnamo|Noong|Pada|Þann|Më|Ar|На|Дана|เมื่อ|ในวันที่|در|در تاریخ|Wiadomość|Missatge|Excerpts|El|Em|Il|Op|Den|På|Dnia|W dniu|Dne|Dňa|In data|Στις|Vào|Ngày|Lúc|Il giorno|No dia|Na|Quoting|\u05d1|\u0641\u064a|בתאריך|在|於|于';

/** Names of the date that only mails have. */
export const SENT = [
  'enviado el|enviat el|enviada el|wysłane|küldés ideje|wysłana|odesláno dne|отправлено в|send|sendt den|dihantar|傳送|传送|bidaltze-data|dërguar më|dërguar|испратено|послато|жіберілген күні|жіберілді|göndərilib|gestuur|geschéckt|seolta|გაგზავნილია|প্রেরিত|дата отправки|gönderilen|terkirim|dikirim pada|saatmisaeg|送信時刻|送信時間|발송일|보낸시간|보낸 시간|trimis la|εστάλη στις|trimis|elküldve|küldve|poslano|poslato|изпратено|išsiųsta|nosūtīts|saadetud|dikirim|odoslané|enviat|ส่ง|ارسال شده|भेजा गया|bidalia',
  'anfonwyd|date envoi|date d.envoi|envoyé le|message du',
  'sent|gesendet|envoyé|enviado|enviada(?: em)?|inviato|verzonden|sendt|skickat|lähetetty|wysłano|odesláno|отправлено|надіслано|gönderildi|gönderme tarihi|εστάλη|στάλθηκε|נשלח|أرسلت|تم الإرسال|发送时间|寄件日期|送信日時|보낸 ?날짜|đã gửi',
].join('|');

/** Names of the fields that mail programs repeat above quoted mail, in any order. */
export const QUOTED_FIELDS = {
  from: 'frå|expeditorul|expeditor|отправитель|получено от|nga|од|кімнен|გამგზავნი|ვისგან|kimdən|থেকে|ó|vun|ад каго|ад|igorlea|remetido por|emetteur|absender|pengirim|പ്രേഷകൻ|அனுப்புநர்|प्रेषक|寄信人|发件者|發件人|보낸이|from|von|de|da|de la|feladó|šalje|odosielateľ|pošiljatelj|nuo|saatja|dari|จาก|prejeto od|frá|nork|oddi wrth|daripada|از|van|fra|från|lähettäjä|od|от|від|від кого|kimden|gönderen|από|מאת|من|发件人|寄件者|寄件人|差出人|送信者|보낸 ?사람|từ|expéditeur|remitente|mittente|afzender',
  date: `${SENT}|dátum|tanggal|วันที่|dagsetning|दिनांक|تاریخ|dată|date|datum|fecha|data|dato|päivämäärä|päiväys|дата|tarih|ημερομηνία|תאריך|تاريخ|التاريخ|日期|时间|日付|日時|날짜|ngày`,
  to: 'destinatarul|получатель|për|кімге|ადრესატი|ვის|kimə|প্রতি|chuig|каму|hartzailea|empfänger|penerima|பெறுநர்|प्रति|收件地址|發給|发给|받는이|către|címzett|prima|za|kam|adressaat|kellele|kepada|ถึง|per a|до|primatelj|príjemca|nori|به|to|an|à|pour|para|a|aan|til|till|vastaanottaja|do|komu|кому|kime|alıcı|προς|אל|إلى|الى|收件人|收件者|宛先|받는 ?사람|tới|đến|destinataire|destinatario',
  subject:
    'thema|subiectul|naslov|наслов|tema|subjekti|тақырыбы|თემა|mövzu|বিষয়|ábhar|тэма|asuntua|judul|பொருள்|assumpto|subiect|tárgy|predmet|относно|zadeva|teema|temats|perihal|subjek|เรื่อง|assumpte|विषय|موضوع|sujet|gaia|pwnc|efni|предмет|subject|betreff|objet|asunto|oggetto|assunto|onderwerp|emne|ämne|aihe|temat|předmět|тема|konu|θέμα|נושא|الموضوع|主题|主題|主旨|件名|제목|chủ đề|tiêu đề|re',
  other:
    'másolatot kap|kópia|dw|bilgi|kopio|κοιν\\.|नकल|प्रतिलिपि|salinan|sk|surət|көшірме|副本抄送|copie à|másolat|kopija|копие|สำเนา|tembusan|cc|bcc|message-id|kopie|copie|kopia|kopi|копия|копія|抄送|副本|참조|reply-to|répondre à|antwort an|risposta|on behalf of|importance|priority|wichtigkeit|attachments?|anlagen|organi[sz]ation|newsgroups',
} as const;

/** Lines above forwarded or quoted mail, between dashes or before a colon. */
export const QUOTE_TITLES = [
  'original(?:[- ]?nachricht)? ?(?:message|appointment)?|forwarded (?:message|by)|reply message|begin forwarded message|begin original message',
  'urspr(?:ü|ue)ngliche nachricht|weitergeleitete nachricht|antwort nachricht|anfang der weitergeleiteten (?:nachricht|e-mail)|(?:message|courriel) d.origine',
  'message (?:original|initial|transféré|transmis)|début du message (?:réexpédié|transféré)|mensaje (?:original|reenviado)',
  'inicio del mensaje reenviado|messaggio (?:originale|inoltrato)|inizio messaggio inoltrato|mensagem (?:original|encaminhada)',
  'início da mensagem reencaminhada|oorspronkelijk bericht|doorgestuurd bericht|begin doorgestuurd bericht|oprindelig (?:meddelelse|besked)',
  'videresendt (?:meddelelse|melding|besked)|start på videresendt besked|ursprungligt meddelande|vidarebefordrat (?:meddelande|brev)',
  'originalmeddelande|opprinnelig melding|start på videresendt melding|alkuperäinen viesti|välitetty viesti|(?:oryginalna|przekazana) wiadomość',
  'wiadomość (?:oryginalna|przekazana)|původní (?:zpráva|e-mail)|přeposlaná zpráva|(?:исходное|пересылаемое|пересланное|оригинальное) сообщение',
  'начало переадресованного сообщения|(?:початкове|переслане|оригінальне) повідомлення|(?:orijinal|özgün) (?:mesaj|ileti)|yönlendirilen mesaj',
  'iletilmiş mesaj|(?:αρχικό|προωθημένο) μήνυμα|הודעה (?:מקורית|שהועברה)|(?:الرسالة|رسالة) (?:الأصلية|معاد توجيهها)|原始(?:邮件|郵件|信件)|原邮件',
  'oorspronklike boodskap|الرسالة الأصلي[\\p{L}\\p{M}]{1,5}|رسالة ممر[\\p{L}\\p{M}]{1,5}|mensaxe (?:orixinal|reenviada|reunviáu)|зыходны ліст|накіраваны ліст|оригинално (?:писмо|съобщение)|препратено съобщение|kemennadenn orinel',
  'missatge (?:original|reenviat)|neges wreiddiol|origina(?:l|ł)na powěsć|algne kiri|edastatud kiri|jatorrizko mezua|birbidalitako mezua|oarspronklik berjocht|trochstjoerd berjocht|teachtaireacht (?:bhunaidh|ar aghaidh)',
  'an teachdaireachd thùsail|મૂળ સંદેશો|मूल संदेश|अग्रेषित संदेश|iz(?:vorna|vorno|virno) (?:poruka|sporočilo)|proslijeđena poruka|prosleđena poruka|posredovano sporočilo|eredeti üzenet|továbbított (?:üzenet|levél)|pesan (?:asli|terusan)|mesej asal',
  'upprunalegur póstur|áframsendur póstur|საწყისი წერილი|originalus laiškas|persiųstas laiškas|oriģinālā ziņa|sākotnējais ziņojums|оригинална порака|оригинална порука|прослеђена порука|opphavleg melding|vidaresend melding',
  'treść (?:oryginalnej|przekazanej) wiadomości|początek przekazywanej wiadomości|messadi (?:original|renvià)|mesaj(?:ul)? (?:original|redirecționat)|începe mesajul redirecționat|මුල් ලිපිය|p[ôo]vodná správa|preposlaná správa|mesazhi (?:origjinal|i përcjellë)',
  'özgün [iİ]leti|[iİ]letilen [iİ]leti|[iİ]letilmiş [iİ]leti|原始消息|原始訊息|转发的消息|转发消息|轉寄訊息|ursprüngliche mitteilung|weitergeleitete mitteilung|edelleenlähetetty viesti|välitetty viesti|исходное письмо|пересланное письмо|перенаправлен[а-яії]{2} (?:сообщение|повідомлення)',
  'далее сообщение|元のメール|元メール|転送メール|원본 ?메일|original mail|original email|mensaje remitido|vidarebefordrat mejl|message réexpédié|პირველადი წერილი|پیام اصلی|پیام ارسال‌شده|ข้อความต้นฉบับ|ข้อความที่ส่งต่อ',
  '回复的原邮件|回覆的原郵件|(?:转发|轉寄|转发的)(?:邮件|的郵件|信件)|元のメッセージ|転送(?:された)?メッセージ|원본 ?(?:메시지|메일)|전달된 ?메시지|thư gốc|tin nhắn (?:gốc|được chuyển tiếp)',
].join('|');

/** Words for a begin, in a line above the fields of a forwarded message. */
export const BEGIN_WORDS =
  'begin|anfang|début|inicio|inizio|início|start på|začátek|začiatok|započni|početak|začetek|początek|början|kezdete|alkaa|başlangıcı|начало|початок|începe|începutul|αρχή|開始|开始|시작';

/** Those of {@link QUOTE_TITLES} that announce a forwarded message. */
export const FORWARD_WORDS =
  'forward|weitergeleitet|réexpédié|transféré|transmis|reenviad|inoltrat|encaminhad|reencaminhad|doorgestuurd|videresend|vidarebefordr|välitetty|przekazan|přeposlan|переадрес|пересыл|переслан|yönlendiril|iletilmiş|προωθημένο|שהועברה|معاد توجيهها|转发|轉寄|転送|전달된|được chuyển tiếp';

/** What only a person's sentence has. */
const PERSONS = String.raw`(?<!\p{L})(?:i|my|we|our|you|your|in|on|with|not|does|is|has|but|and|ich|mein\p{L}{0,2}|wir|im|mit|nicht|ist|je|mon|nous|dans|avec|yo|mi|en|con|no|io|il mio|nel|eu|meu|não|ik|mijn|met|niet)(?!\p{L})`;
const GETS =
  'get|try|download|holen sie sich|laden sie|obtenez|obtenir|obtén|obtener|obtenga|ottieni|obter|obtenha|téléchargez|télécharger|scarica|descargar|hent|få|hämta|skaffa|hanki|lataa|pobierz|получите|скачать|загрузить|dapatkan|unduh|získat|získajte|získejte|stáhnout|stiahnuť|obține(?:ți)?|descarcă|last ned|tải|baixar|baixe|preuzmite|prenesite|изтеглете|вземете|отримати|завантажити|λήψη|αποκτήστε|קבל|קבלו|הורד|הורידו|الحصول على|احصل على|دریافت|ดาวน์โหลด|รับ|获取|下载|取得|下載';
const SYSTEM = String.raw`(?<!\p{L})(?:ios|android|mac(?:os)?|iphone|ipad|windows|mobile)(?!\p{L}{6})`;
const OUTLOOK_FOR = String.raw`(?:(?<!\p{L})outlook(?!\p{L}{4}).{1,14}${SYSTEM}|${SYSTEM}.{0,16}outlook(?!\p{L}{4}))`;

/** A whole line that a telephone or a mail program adds below what was typed. */
export const PROGRAM_SIGNATURES = [
  String.raw`sent (?:from|via|with|by|using|on) \[?(?:my|a|an|the|mobile|cell|phone|mail\b|\[?mail\]?|e-?mail|mailbox|outlook|yahoo|gmail|google|windows|samsung|galaxy|i(?:phone|pad|pod|cloud)|android|blackberry|airmail|proton|thunderbird|spark|sparrow|htc|nokia|xiaomi|huawei|pixel|hey|superhuman|newton|aqua|bluemail|k-9|fairemail|zoho|telegram|aol|at&t|t-mobile|verizon|surface|tablet|nine|myMail|edison|canary|mutt|mailspring|postbox|missive|front|polymail|mimestream|tutanota|tuta|boxer|typeapp|workmail|teams|smartphone).{0,100}`,
  String.raw`(?:reply to this e-?mail directly|you are receiving this (?:e-?mail |message )?because).{0,200}`,
  String.raw`.{0,20}\bfrom mobile(?: (?:phone|device))?`,
  String.raw`from my \S.{0,40}`,
  String.raw`sender notified by(?: mailtrack.{0,60})?`,
  String.raw`(?:get|download|try) \[?(?:yahoo mail|bluemail|spark).{0,100}`,
  String.raw`(?!.*${PERSONS})(?:${GETS}).{0,12}(?:bluemail|yahoo mail).{0,60}`,
  String.raw`(?:von meinem|von unterwegs|von (?:yahoo|outlook|gmail|aol|web\.de|gmx|mail(?! zu ))|vom handy|aus meinem).{1,50} gesendet\.?`,
  String.raw`(?:diese (?:nachricht|e-?mail) wurde) (?:von|mit|vom) .{1,80} (?:gesendet|geschrieben|verschickt)\.?`,
  String.raw`(?:gesendet|versendet|verschickt|geschickt|geschrieben) (?:von|mit|vom|über|via|auf) .{1,80}`,
  // `Get Outlook for iOS` in many languages: a word for getting at the one end, and nothing behind the name of the system.
  String.raw`(?!.*${PERSONS})(?:${GETS}).{0,20}${OUTLOOK_FOR}['’]?\p{L}{0,5}(?:[\])]? ?[<[(]?https?:\S{1,200})?`,
  String.raw`(?!.*${PERSONS})(?:az )?${OUTLOOK_FOR}.{0,12} (?:downloaden|herunterladen|holen|beszerzése|letöltése|edinin|indirin|hankkiminen|inhämta|の入手|を入手|다운로드|받기)`,
  String.raw`.{0,25}outlook['’]?[uı]?.{0,4} (?:edinin|beszerzése.{0,12}|letöltése.{0,12})`,
  String.raw`.{0,20}outlook ?(?:の入手|を入手|をダウンロード|다운로드|받기)|(?:获取|下载|取得|下載).{0,20}outlook|(?:ios|android)(?:용|用| 版|版) ?outlook.{0,12}`,
  String.raw`(?:envoyée?|expédiée?|transmise?) (?:de|depuis|à partir de|avec|via|par) .{1,80}`,
  String.raw`enviad[oa] (?:desde|do|da|de|a partir|con|com|via|pelo) .{1,80}`,
  String.raw`(?:inviat|spedit|mandat)[oa] (?:da|dal|dalla|con|tramite) .{1,80}`,
  String.raw`(?:verzonden|verstuurd|gestuurd) (?:vanaf|vanop|vanuit|met|via|van|door) .{1,80}`,
  String.raw`(?:sendt|sendes|skickat|skickad|skickades|skickas|sent) (?:fra|från|frå|via|med) .{1,80}`,
  String.raw`lähetetty .{1,60}`,
  String.raw`(?:wysłan|nadan)[eoay] (?:z|ze|za pomocą|przez) .{1,80}`,
  String.raw`(?:odesláno|posláno) (?:z|ze|pomocí) .{1,80}`,
  String.raw`(?:отправлено|послано|надіслано|відправлено) (?:с|со|из|з|із|через|от) .{1,80}`,
  String.raw`.{1,40}(?:dan|den|ndan|nden|umdan|imden|ımdan) gönderil(?:di|miştir)\.?`,
  String.raw`(?:στάλθηκε|εστάλη) από .{1,80}`,
  String.raw`נשלח מ.{1,80}`,
  String.raw`(?:أُ?رسلت|أُ?رسل|تم الإرسال) (?:من|باستخدام) .{1,80}`,
  String.raw`(?:发自|發自|从|從|来自|來自|由).{1,40}(?:发送|發送|傳送|发出)?`,
  String.raw`.{1,40}から(?:送信|送る)`,
  String.raw`.{1,40}에서 (?:보냄|전송|보낸 메일).{0,20}`,
  String.raw`(?:đã )?(?:gửi|được gửi) từ .{1,80}`,
  String.raw`(?:trimis (?:de pe|din|de la|cu)|poslano (?:s|z|iz)|poslato (?:sa|iz)|odoslané z|enviat (?:des|amb)|dikirim (?:dari|menggunakan)|изпратено (?:от|с)|išsiųsta (?:iš|naudojant)|saadetud (?:minu|rakendusest)|nosūtīts no|ส่งจาก|ارسال شده از) ?.{1,80}`,
  // What scanners of viruses found in the message, and what asks not to print it, or to think before.
  String.raw`(?=.*(?:message|messag|mail|nachricht|courriel|correo|mensaje|mensagem|bericht|meddelande|besked|melding|viesti|e-?post|wiadomo|zpráv|správ|levél|üzenet|mesaj|posta|μήνυμα|письм|сообщ|почт|лист|повідомл|メール|邮件|郵件|메일|databa[sz]|databáz|datenbank|base de d|www\.|https?:))(?=.*(?:virus|viren|vírus|virov|wirus|вирус|вірус|ウイルス|病毒|바이러스))(?=.*(?:avast|avg|eset|nod32|kaspersky|norton|mcafee|sophos|bitdefender|f-secure|g data|avira|trend micro|symantec|antivir))(?=.*(?:free|check|scan|clean|frei|geprüft|sans|absence|vérifi|analy[sz]|comprob|libre|livre|priv|controll|verific|vrij|gecontroleerd|sprawdz|bez |kontrol|databa[sz]|databáz|datenbank|base de d|prověř|провер|перевір|フリー|チェック|检查|无|없)).{8,200}`,
  String.raw`(?=.*(?:environment|umwelt|environnement|medio ?ambiente|ambiente|milieu|miljö|miljø|środowisk|přírod|környezet|окружающ|природ|forest|(?<!\p{L})trees?(?!\p{L})|wald|paper|環境|环境|環保))(?=.*(?:print|druck|imprim|stampa|afdruk|skriv|udskriv|drukow|wydruk|tisk|nyomtat|печат|друк|印刷|打印|列印))(?=.*(?:consider|think|sav(?:e|ing)|mindful|respect|denk|schon|zuliebe|pens|piens|respet|rispett|salv|tänk|tænk|spar|pomyśl|chroń|mysl|šetř|gondol|kímél|подума|поберег|береги|бережем|düşün|koru|考え|大切|愛護|爱护|保护))(?=.*(?:message|messag|mail|nachricht|courriel|correo|mensaje|mensagem|bericht|meddelande|besked|melding|viesti|e-?post|wiadomo|zpráv|správ|levél|üzenet|mesaj|posta|μήνυμα|письм|сообщ|почт|лист|повідомл|メール|邮件|郵件|메일|(?<!\p{L})(?:not|don['’]t|avoid|before|unless|only|need|necessary|really|nicht|bevor|vor|nur|wirklich|unnötig\p{L}{0,2}|ne|n['’]|avant|si|sauf|antes|solo|sólo|prima|non|não|só|se|niet|voordat|alleen|voor|inte|innan|ikke|før|nie|zanim|przed|ne\p{L}{1,12}|než|před|nem|mielőtt|не|прежде|перед|перш|önce|yazdırma\p{L}{0,8})(?!\p{L})|前|不|控え|本当|필요))(?!.*(?<!\p{L})(?:i|my|ich|mein\p{L}{0,2}|je|mon|yo|io|eu)(?!\p{L})).{12,160}`,
  String.raw`.{1,40}(?:ról|ről|ból|ből|mról|mről) küldve\.?|elküldve .{1,60}`,
] as const;

/** Names of mail programs, devices and carriers in such lines. */
export const DEVICES =
  'iphon|ipad|ipod|android|blackberry|samsung|galaxy|huawei|honor|xiaomi|redmi|oppo|nokia|htc|sony|xperia|motorola|pixel|windows|outlook|gmail|yahoo|aol|hotmail|icloud|proton|tuta|spark|smartphone|smart ?phone|handy|mobile?|móvil|movil|celular|cellulare|telefon|telefono|téléphone|telefoon|telefone|phone|tablet|device|gerät|verizon|t-mobile|at&t|orange|vodafone|mail|邮箱|手机|手機|携帯|スマ|メール|아이폰|갤럭시|휴대|телефон|айфон|смартфон|мобильн|telefonu|κινητό';

/** Labels of forms, orders, events and signatures, which the fields of no message have. */
export const OTHER_LABELS =
  'name|nom|prénom|nombre|nome|naam|navn|namn|имя|e-?mail(?: address)?|e-?post|mail|courriel|correo|phone|tel|tel\\.|tél|telephone|telefon|téléphone|teléfono|telefono|telefoon|mobile?|cell|handy|fax|web|website|internet|site|address|adresse|adres|order|order number|bestellung|bestellnummer|commande|pedido|ordine|company|firma|société|empresa|message|nachricht|mensaje|author|auteur|autor|autore|kontakt|contact|contacto|contatto|organi[sz]er|organisator|when|where|who|what|wann|wo|où|quand|location|ort|lieu|lugar|luogo|plaats|amount|betrag|total|user|host|server|level|version|status|.{1,20}-by';

/** Asks to respond above a line: what is below it is of a help desk. */
export const REPLY_ABOVE = [
  '(?:reply|respond|response|answer).{0,40}above this line|(?:^|[-#*=_~]\\s{0,2})(?:please )?(?:type|write) .{0,30}above this line|(?:reply|response|answer) above, .{0,30}below this line',
  '(?:antwort|schreib|respon|répon|écri|rispo|rispond|scriv|antwoord|reageer|svar|ответ|odpowied|yanıt|escrib|escrev|digit).{0,60}(?:oberhalb dieser|über dieser|au-dessus de cette|encima de esta|sobre esta|acima desta|sopra questa|boven deze|ovanför den här|over denne|выше этой|nad tą|bu satırın)',
  '(?:oberhalb dieser|über dieser|au-dessus de cette|encima de esta|acima desta|sopra questa|boven deze|выше этой).{0,40}(?:antwort|répon|respon|rispo|antwoord|reageer|ответ)',
  'この(?:行|線)より上.{0,20}(?:返信|記入)|(?:请|請)在此(?:行|线|線)(?:上方|之上).{0,10}(?:回复|回覆)|이 (?:줄|선) 위에',
].join('|');

/** Above this line, in languages whose prompts {@link REPLY_ABOVE} does not know. */
export const ABOVE_THIS_LINE =
  "powyżej tej lini|nad tą lini|nad (?:tento|tímto) řád|nad (?:tento|týmto) riad|tämän rivin yläpuol|e(?:zen)? sor (?:fölé|fölött|felett)|πάνω από αυτή|deasupra acest|над (?:този ред|цим рядк|этой строк)|вище цього рядк|iznad (?:ov[eo]g?|te) |nad to vrstico|phía trên dòng này|di atas baris ini|מעל (?:ל?שורה זו|לשורה הזו)|فوق هذا السطر|over denne linj|damunt d'aquesta|virš šios|virs šīs|selle rea (?:kohal|üla)|上方此行|此行(?:之上|上方)|この(?:行|線)(?:より|の)上|이 (?:줄|선) 위";

/** `above`, `line`, and words for replying and writing, in many languages: all three in the frame of a help desk ask to respond above a line. */
export const ABOVE_WORDS =
  'above|oberhalb|über|au-dessus|ci-dessus|encima|arriba|sobre|sopra|al di sopra|acima|boven|ovanför|ovenfor|over|yläpuolel|yläpuoli|powyżej|nad|fölé|fölött|felett|felé|deasupra|mai sus|πάνω|παραπάνω|выше|над|вище|вышэй|üstün|üzerin|yukarı|מעל|לפני|أعلى|فوق|قبل|بالا|ऊपर|উপরে|மேலே|เหนือ|ด้านบน|trên|di atas|iznad|zgoraj|virš|virs|kohal|ülal|ofan|gainean|damunt|por riba|მაღლა|ზემოთ|վերև|上方|之上|以上|より上|の上|上に|上面|위에|위쪽';
export const LINE_WORDS =
  'lines?|zeilen?|linien?|lignes?|líneas?|linea|riga|linha|regel|lijn|rad(?:en)?|linje[nr]?|rivi\\p{L}{0,3}|wiersz\\p{L}{0,2}|lini\\p{L}{1,3}|řád\\p{L}{0,4}|riad\\p{L}{0,4}|sor(?:t|ra)?|rând\\p{L}{0,3}|lini[ae]|γραμμή\\p{L}{0,2}|строк\\p{L}{1,2}|лини\\p{L}{1,2}|рядк\\p{L}{0,3}|рядок|линия|ред|satır\\p{L}{0,4}|שורה|קו|السطر|سطر|الخط|خط|पंक्ति|रेखा|লাইন|வரி|บรรทัด|เส้น|dòng|baris|garis|red(?:ka)?|vrstic\\p{L}{1,2}|eilut\\p{L}{1,3}|rind\\p{L}{1,2}|rea|línu|lerro|línia|liña|ხაზ\\p{L}{0,3}|տող\\p{L}{0,3}|行|线|線|줄|선';
export const RESPOND_WORDS =
  'repl(?:y|ies)|respond|response|answer|write|type|antwort\\p{L}{0,4}|schreib\\p{L}{0,4}|répon\\p{L}{1,4}|écri\\p{L}{1,4}|respuesta|respond\\p{L}{1,4}|escrib\\p{L}{1,3}|rispo\\p{L}{1,5}|scriv\\p{L}{1,4}|respost\\p{L}|escrev\\p{L}{1,3}|digit\\p{L}{1,4}|antwoord\\p{L}{0,4}|reageer|svar\\p{L}{0,3}|skriv\\p{L}{0,2}|vastau\\p{L}{1,6}|kirjoit\\p{L}{1,4}|odpow\\p{L}{1,8}|odpov\\p{L}{1,5}|napiš\\p{L}{0,3}|válasz\\p{L}{0,4}|írj\\p{L}{1,3}|răspun\\p{L}{1,5}|scri\\p{L}{1,4}|απάντησ\\p{L}{0,2}|απαντήσ\\p{L}{1,4}|γράψ\\p{L}{1,3}|ответ\\p{L}{0,5}|пиш\\p{L}{1,4}|відпов\\p{L}{1,5}|отговор\\p{L}{0,5}|yanıt\\p{L}{0,6}|cevap\\p{L}{0,4}|yaz\\p{L}{1,6}|תשוב\\p{L}{1,3}|השב|ردك|الرد|رد|اكتب|پاسخ|جواب|उत्तर|जवाब|উত্তর|பதில்|ตอบ\\p{L}{0,4}|trả lời|phản hồi|balas\\p{L}{0,3}|tulis|odgovor\\p{L}{0,3}|atsak\\p{L}{1,6}|atbild\\p{L}{1,3}|vasta\\p{L}{1,4}|resposta|erantzun\\p{L}{0,3}|პასუხ\\p{L}{0,2}|պատասխան\\p{L}{0,3}|返信|返答|記入|回答|回复|回覆|答复|输入|輸入|회신|답장|입력|답변';

/** A paragraph at the end that a company's server adds. */
export const DISCLAIMER_STARTS =
  '(?:this (?:e-?mail|message|communication|transmission|electronic|mail)|the (?:information|contents?)|confidential|disclaimer|notice|caution|privileged|please consider the environment|diese (?:e-?mail|nachricht)|der inhalt dieser|ce (?:message|courriel|mail)|este (?:mensaje|correo|e-?mail)|questo messaggio|esta mensagem|deze e-?mail|dit bericht|denne (?:e-?mail|mail)|detta (?:e-?post|meddelande))';
export const DISCLAIMER_WORDS =
  'confidential|intended (?:recipient|only|solely)|privileged|disclos|unauthori[sz]ed|vertraulich|rechtlich geschützt|confidentiel|destinataire|confidencial|destinatario|destinatári|riservat|confidenziali|vertrouwelijk|geadresseerde|fortrolig|konfidentiell|printing this e-?mail|viru(?:s|ses) (?:free|scan)';

/** What such paragraphs say in many languages: that they are secret, for whom, that they may be sent by mistake, and what to do then. */
export const DISCLAIMER_CLAUSES = [
  'confiden|privileged|vertraulich|riservat|vertrouwelijk|fortrolig|konfident|poufn|důvěrn|dôvern|bizalmas|конфиденц|конфіденц|повери|gizli|εμπιστευτικ|luottamuksel|konfidents|konfidenc|povjerljiv|poverljiv|zaupn|סודי|سري|محرمانه|गोपनीय|ลับ|bảo mật|rahasia|机密|機密|秘密|保密|기밀|비밀',
  'intended|addressee|recipient|empfänger|adress?at|destinatair|destinatari|destinat[áăr]|geadresseerd|bestemd|modtager|mottagare|mottaker|příjem|prijím|címzett|primatelj|primal|naslovnik|адресат|получател|отримувач|alıcı|muhatab|παραλήπτ|vastaanottaj|saaja|saajale|adresaat|gavėj|saņēmēj|נמען|המיועד|المرسل|مخاطب|प्राप्तकर्ता|ผู้รับ|người nhận|penerima|收件人|受信者|受取人|宛先|수신인|수신자',
  "in error|by mistake|irrtüm|versehentlich|par erreur|per errore|por error|equivocac|por engano|por erro|onterecht|ten onrechte|abusievelijk|ved en fejl|av misstag|ved en feil|omyłk|pomyłk|błędnie|omylem|nedopatření|téved|din eroare|greșeal|ошибочно|по ошибке|помилково|yanlışlıkla|sehven|κατά λάθος|erehdyksessä|virheellisesti|ekslikult|per klaidą|kļūdas|greškom|pomoto|בטעות|بالخطأ|عن طريق الخطأ|اشتباه|गलती से|nhầm|kesalahan|误收|誤收|誤って|잘못|not the (?:intended|named|correct|right)|nicht der (?:richtige|beabsichtigte|vorgesehene)|n[’']êtes pas le|no es usted el|si no es el|nie są państwo|nie jest(?:eś| pan)",
  'delet|destroy|notif|inform|lösch|vernicht|benachrichtig|supprim|détrui|avert|elimin|borr|avis|cancell|distrugg|apag|destru|verwijder|vernietig|slet|rader|meddel|usuń|usuni|powiad|smaž|vymaž|odstra|töröl|értesít|șterg|удал|сообщ|видал|повідом|silin|silme|siliniz|bildir|διαγρά|ενημερ|poist|ilmoit|kustut|ištrin|dzēs|obriš|izbriš|מחק|למחוק|حذف|हटा|ลบ|xóa|xoá|hapus|删除|刪除|削除|破棄|삭제|폐기',
] as const;

/** A disclaimer speaks of the message that it is in, and of what may have happened; people who sent something know. */
export const DISCLAIMER_SELF =
  'messag|mail|transmission|communicat|following|nachricht|courriel|correo|mensaje|mensagem|comunica|bericht|meddel|besked|melding|viesti|e-?post|e-?pasts|wiadomo|zpráv|správ|levél|levelet|üzenet|mesaj|posta|ileti|μήνυμα|μηνύματος|письм|сообщ|почт|лист|повідом|съобщ|порук|poruk|sporočil|kirja|kiri|laišk|ziņoj|ziņa|vēstul|skeyti|הודעה|דוא|رسالة|البريد|رسال|ایمیل|پیام|संदेश|ईमेल|อีเมล|ข้อความ|thư|tin nhắn|pesan|surel|邮件|郵件|信件|メール|메일|이메일';
export const DISCLAIMER_CONDITIONS =
  '(?<!\\p{L})(?:if|should|in case|in the event|unless|anyone|whoever|any person|received|wenn|falls|sollten?|sofern|wer|jede[rs]?|si|en cas|toute personne|quiconque|quien|cualquier|caso|se|qualora|chiunque|indien|als|mocht|hvis|dersom|om|jos|mikäli|jeżeli|jeśli|w przypadku|pokud|jestliže|ak|ha|amennyiben|dacă|în cazul|αν|εάν|σε περίπτωση|если|в случае|якщо|ако|eğer|aldıysanız|iseniz|değilseniz|ako|ukoliko|če|v primeru|kui|jei|jeigu|ja|ef|אם|إذا|إن|اگر|यदि|अगर|nếu|jika|apabila|bila)(?!\\p{L})|\\p{L}{2}(?:sanız|seniz)(?!\\p{L})|หาก|ถ้า|如|若|場合|경우';
/** One who speaks of themselves; of a company, `we`. No word that is another one elsewhere: `je` in Czech, `ja` in Finnish. */
export const FIRST_PERSON =
  "(?<!\\p{L})(?:i['’](?:m|ve|ll|d)|i (?:am|was|have|had|will|would|can|could|did|do|sent|think|know|need|must|should)|my|me|myself|ich|mein(?:e[rmns]?)?|mir|mich|j['’]\\p{L}{1,20}|je (?:vous|te|ne|le|la|les|me|suis|viens|dois|peux|veux|pense|sais)|mon|moi|m['’]\\p{L}{1,20}|yo|mi|mío|io|mio|mia|meu|minha|ik|mijn|jag|mitt|jeg|minä|minun|mój|mnie|můj|nekem|εγώ|μου|я|мне|мой|мені|мій|аз|benim|אני|أنا|tôi|saya)(?!\\p{L})|我(?![们們司方国國])|私[はがの]|제가|나는";
/** How letters begin. */
export const SALUTATIONS =
  'hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|hallo|liebe[rs]?|sehr geehrte\\p{L}{0,2}|guten|moin|servus|bonjour|bonsoir|salut|ch[eè]re?s?|madame|monsieur|hola|estimad\\p{L}{1,2}|querid\\p{L}{1,2}|buen[oa]s|ciao|buongiorno|gentil\\p{L}{1,3}|egregi\\p{L}|car[oaie]|olá|bom dia|boa tarde|prezad\\p{L}{1,2}|beste|geachte|goedendag|hej|kære|hei|szanown\\p{L}|dzień dobry|cześć|dobrý den|ahoj|vážen\\p{L}|kedves|tisztelt|bună|stimat\\p{L}|здравствуйте|добр\\p{L}{2} (?:день|утро|вечер)|уважаем\\p{L}{2}|привет|вітаю|шановн\\p{L}|здравей\\p{L}{0,2}|merhaba|sayın|γεια|αγαπητ\\p{L}{1,2}|καλημέρα|שלום|مرحبا|السلام|سلام|नमस्ते|chào|halo|selamat|您好|你好|こんにちは|お世話|안녕하세요';

/** Articles and pronouns in lower case: what follows the name of a device is a sentence, and who wrote something is no name. */
export const DETERMINERS =
  'it|its|the|this|that|these|those|they|them|we|he|she|you|i|a|an|my|our|your|his|her|their|der|die|das|dem|den|ein|eine|einen|er|sie|es|wir|ich|mein|meine|unser|unsere|sein|seine|ihr|ihre|le|la|les|un|une|il|elle|ils|elles|on|nous|vous|je|mon|ma|notre|son|sa|el|los|las|una|se|lo|mi|nuestro|nuestra|su|gli|uno|si|mio|mia|nostro|nostra|suo|sua|o|os|as|um|uma|meu|minha|nosso|nossa|seu|het|een|hij|zij|ze|wij|ik|mijn|onze|haar|det|den|en|ett|et|han|hun|hon|vi|jag|jeg|min|mitt|vår|to|ten|ta|te|tego|on|ona|my|mój|moja|nasz|ta|tenhle|ten|můj|náš|это|этот|эта|он|она|они|мы|я|мой|моя|наш|наша|bu|şu|bir|o|ben|biz';

/** What people ask to excuse behind the name of their telephone. */
export const EXCUSES =
  'excuse|sorry|apolog|pardon|forgive|typo|brevity|short|entschuldig|verzeih|tippfehler|kürze|excus|désolé|fautes|disculp|perdon|brevedad|scus|brevità|desculp|verontschuldig|ursäkt|beklager|unnskyld|przeprasz|omluv|извин';
