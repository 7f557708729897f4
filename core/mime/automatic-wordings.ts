// What replies of programs say of themselves, by language, as parts of regular expressions, lower case. Add another language to each table.

import { splitList } from './report-wordings.ts';

/** The start of the subject of a reply that a program wrote for its user. */
export const AUTOMATIC_SUBJECTS = splitList(`
    automatic reply | automated reply | automated response | auto reply | auto-reply | autoreply | auto response | auto-response |
    message status - | niet aanwezig | ikke til stede | ikke på kontoret | inte på kontoret | not in the office |
    i am currently out | i'm currently out | i am out of | i'm out of | ich bin im urlaub | ich bin nicht im | ich bin abwesend |
    je suis en cong | je suis absent | estoy de vacaciones | estoy fuera | sono in ferie | sono fuori | estou de férias |
    estou fora | ik ben op vakantie | ik ben afwezig | jestem na urlopie | jestem nieobecn | jag är på semester | jeg er på ferie |
    jeg har ferie | olen lomalla | szabadságon vagyok | jsem na dovolené | som na dovolenke | sunt în concediu | я в отпуске |
    я у відпустці | tatildeyim | izindeyim | είμαι σε άδεια | אני בחופשה | أنا في إجازة | 休暇中 | 休暇をいただ | 正在休假 | 휴가 중 |
    nicht im büro | nicht am platz | auto: | out of office | out of the office | out-of-office | ooo: | on vacation | vacation |
    away from | away until | i am away | on leave | on holiday | abwesen | automatische reaktion | absence | absent |
    message d'absence | fuera de la oficina | fuori sede | ausência | afwezig | frånvar | fravær | automaattinen vastaus | poissa |
    автоответ | 不在 | 부재중 | automaatvastus | automaatne vastus | автовідповідь | автоответчик | [ooo] | [부재중 | [자동 | 【自動 | 【不在 |
    ooo - | ooo – | (ooo) | [auto | urlaubsbenachrichtigung | ferienabwesenheit | büroabwesenheit | nieobecność | nepřítomnost |
    távollét | отсутствие | távolléti | en vacances | de vacaciones | in ferie | na dovolenej | na urlopie`);

/** Parts of words for `automatic` and `reply` in many languages: both at the begin of a subject mark such a reply. */
export const AUTOMATIC_STEMS =
  'automat|automát|autómat|auto-|avtomat|awtomat|otomat|outomat|uathoib|sjálfvirk|samodej|автомат|аўтамат|аутомат|αυτόματ|αυτοματ|אוטומט|تلقائ|خودکار|स्वचालित|स्वयंचलित|स्वतः|স্বয়ংক্রিয়|স্বয়ংক্রিয়|தானியங்கு|தானியக்க|ಸ್ವಯಂಚಾಲಿತ|സ്വയമേവ|യാന്ത്രിക|స్వయంచాలక|સ્વચાલિત|ਸਵੈਚਾਲਿਤ|ස්වයංක්‍රීය|อัตโนมัติ|ອັດຕະໂນມັດ|ស្វ័យប្រវត្តិ|tự động|自動|自动|자동|ავტომატ|ավտոմատ|ራስ-ሰር';
export const REPLY_STEMS =
  'repl(?:y|ied)|respon|answer|rückmeld|benachrichtig|mitteil|nachricht|messag|mensaj|mensag|notif|bericht|melding|meddel|сообщ|повідом|wiadomo|zpráv|správ|mesaj|通知|メール|안내|邮件|antwo|äntwert|svar|vastau|vastus|válasz|odpov|odpow|odgov|отгов|ответ|одговор|відпов|адказ|жауап|җавап|жооп|хариу|cavab|javob|yanıt|cevap|répon|respue|rispo|respost|răspun|raspun|atsak|atbild|απάντη|απαντη|תשוב|מענה|(?<!\\p{L})رد|جواب|پاسخ|उत्तर|जवाब|जवाफ|উত্তর|জবাব|பதில்|ಪ್ರತ್ಯುತ್ತರ|ಉತ್ತರ|മറുപടി|ప్రత్యుత్తర|సమాధాన|જવાબ|ਜਵਾਬ|පිළිතුර|ตอบ|ຕອບ|ឆ្លើយតប|trả lời|balas|jawab|tugon|返信|応答|回复|回覆|答复|答覆|应答|回信|회신|응답|답장|პასუხ|պատասխան|erantzun|përgjigj|ateb|freagra|tweġiba|jibu|impendulo|ምላሽ';

/** Parts of words for an absence and for a notice: a subject of both alone marks such a reply. */
export const ABSENCE_STEMS =
  'absen[ct]|assen[tz]|ausen[ct]|ausênc|abwesen|urlaubs|vacation|vacanc|vacacion|ferien|ferie|férias|holiday|congé|vakantie|afwezig|frånvaro|fravær|urlop|nieobecno|dovolen|nepřítomn|neprítomn|szabadság|távollét|concedi|отпуск|отсутств|відпустк|izin|tatil|απουσία|חופשה|إجازة|休假|休暇|休職|不在|外出|出差|出張|휴가|부재|출장';
export const NOTICE_STEMS =
  'notif|notiz|notice|avis(?!o)|aviso|avviso|benachrichtig|powiadom|zawiadom|oznámen|értesít|notificar|уведомлен|сповіщ|bildirim|ειδοποίησ|הודעת|إشعار|通知|お知らせ|のお知らせ|のご連絡|提醒|안내|알림';

/** Behind how a message speaks of itself: what it denies, or is about. */
export const ABOUT_WORDS =
  "about|regarding|concerning|from|why|how|whether|not|no|isn't|über|zu|wegen|warum|nicht|kein\\p{L}{0,2}|sur|à|pas|pourquoi|concern\\p{L}{1,4}|sobre|acerca|respecto|riguardo|su|non|não|over|niet|geen|om|inte|ikke|dotyczy|nie|про|о|об|не|hakkında|değil";
/** Says that someone is away, beside {@link ABSENCE_STEMS}, and what such a notice adds: whom to ask instead, and when the mail will be read. */
export const AWAY_WORDS =
  'out of (?:the )?office|away from (?:the |my )?office|on (?:\\p{L}{3,12} )?leave(?!\\p{L})|nicht im (?:büro|haus|dienst)|außer haus|im urlaub|elternzeit|fuera de (?:la )?oficina|fuori ufficio|fora do escritório|niet (?:aanwezig|op kantoor)|(?:ikke|inte) (?:på kontoret|til stede)|semester|orlov|permis(?:j|s)on|lomalla|poissa|poza biurem|mimo kancelář|(?:nur|eingeschränkt|begrenzt|bedingt|schlecht|nicht) erreichbar|(?:currently|am) travell?ing|en déplacement|difficilement joignable|de viaje|in viaggio|em viagem|op reis|på resa|på reise|w podróży|na cestách|в командировке|у відрядженні|föräldraledig|tjänstledig|barsel|foreldrepermisjon|vanhempainvap|äitiysvap|mateřsk|materinsk|licença|maternità|baja (?:maternal|paternal|médica)|verlof|нет в офисе|вне офиса|не в офисе|ofis dışında|yıllık izin';
export const ASIDE_WORDS =
  "(?:limited|no|without|little) access to (?:my )?(?:e-?mails?|messages|inbox)|(?:when|once|as soon as) i (?:return|get back|am back)|(?:upon|on|after) my return|in urgent (?:cases|matters)|for (?:any )?urgent|(?:is|if) urgent|in my absence|(?:kein(?:en)?|nur eingeschränkten?) zugriff|in dringenden (?:fällen|angelegenheiten)|bei dringenden|nach meiner rückkehr|während meiner abwesenheit|nicht weitergeleitet|melde mich (?:danach|nach|dann|wieder|sobald)|(?:pas|peu) accès à|en cas d['’]urgence|pour toute urgence|à mon retour|(?:en|pendant) mon absence|(?:sin|tendré) acceso|en caso de urgencia|(?:asuntos|temas) urgentes|a mi (?:regreso|vuelta)|en mi ausencia|al mio rientro|in caso di urgenz|per urgenze|in mia assenza|em caso de urgência|no meu regresso|ao retornar|assuntos urgentes|na minha ausência|dringende (?:zaken|gevallen|vragen)|bij spoed|na mijn (?:terugkeer|vakantie)|tijdens mijn afwezigheid|brådskande|hastende|ved behov for hurtig|när jag är (?:tillbaka|åter)|når jeg er (?:tilbage|tilbake)|kiireellis|w pilnych sprawach|po powrocie|mojej nieobecności|v naléhavých|po (?:svém )?návratu|sürgős|în cazuri urgente|по срочным|в мо[её] отсутствие|после (?:моего )?возвращения|у термінових|acil (?:durum|konu)|dönüşümde|επείγον|דחופ|للحالات العاجلة|緊急の|お急ぎの|返信が遅れ|以降に(?:ご)?(?:返信|連絡)|急事|紧急(?:事|情|联)|(?:回来|返回|上班)后|급한 |긴급한|복귀 후";

/** How a message speaks of itself, and of the mailbox that it is from. */
export const THIS_MESSAGE =
  'this|dies|das ist|diese (?:e-?mail|nachricht|antwort)|ceci|ce (?:message|courriel|mail)|cet e-?mail|cette réponse|est[eo]|esta respuesta|quest[oa]|esta|isto|dit|deze|dette|denne|det (?:här|her)|detta|to jest|ta wiadomość|niniejsza|tämä|toto|tato|táto|ez egy|ez az|acest|aceasta|это|данное|це|bu|αυτό|זוהי|זו|هذه|هذا|این|यह|นี่|đây|ini|本|此|这是|這是|该邮件|この|これは|이 |본 ';
export const THIS_MAILBOX =
  'this (?:e-?mail |mail )?(?:mailbox|inbox|address)|dies(?:e|es) (?:e-?mail-?|mail-?)?(?:adresse|postfach)|cette (?:adresse|boîte)|esta dirección|este (?:buzón|correo)|quest[oa] (?:casella|indirizzo)|este endereço|esta caixa|(?:dit|deze) (?:e-?mail-?|mail-?)?(?:adres|postvak|mailbox)|den(?:na|ne|här) (?:e-?post|mail|e-?mail)?-?(?:adress|postkass)|ten adres|ta skrzynka|tato (?:adresa|schránka)|ez a (?:cím|postafiók)|(?:этот|данный) (?:почтовый )?(?:адрес|ящик)|bu (?:e-?posta )?(?:adres|posta kutusu)|此(?:邮箱|地址|信箱)|本(?:邮箱|信箱)|(?:この|当)(?:メール)?アドレス|이 (?:메일|주소)';
export const UNREAD_WORDS =
  "(?:is|are) (?:not|un)[ -]?(?:being )?(?:monitored|read|checked|attended|staffed)|is (?:not|never) (?:read|monitored|checked)|no longer (?:monitored|in use|used|active|read|checked|valid|attended)|nicht (?:mehr )?(?:gelesen|verwendet|genutzt|benutzt|aktiv|überwacht|abgerufen|betreut|bearbeitet)|n['’]est (?:pas|plus) (?:consulté|lu|utilisé|surveillé|acti[fv]|relevé)|no (?:se (?:lee|revisa|monitorea|supervisa)|está (?:monitoread|supervisad|atendid))|ya no (?:se (?:usa|utiliza|lee|revisa)|está (?:en uso|activ))|non (?:è|viene) (?:più )?(?:lett|monitorat|utilizzat|attiv|presidiat|controllat)|não (?:é|está) (?:mais )?(?:monitorad|lid|utilizad|ativ|usad)|(?:wordt|is) niet (?:meer )?(?:gelezen|gebruikt|in gebruik|actief|gecontroleerd)|(?:läses|bevakas|används|læses|leses|brukes|bruges) (?:inte|ikke)|nie jest (?:już )?(?:używan|sprawdzan|monitorowan|czytan|aktywn)|se (?:již )?(?:nepoužívá|nečte)|не (?:используется|проверяется|читается|обслуживается)|kullanılmamakta|kullanılmıyor|不再使用|无人(?:值守|查看)|已停用|使用(?:して|されて)(?:おりません|いません)|사용(?:하지 않|되지 않)";

/** Whom to ask instead, beside {@link ASIDE_WORDS}: people who are not away say it, too. */
export const OTHERS_TO_ASK =
  'for immediate (?:assistance|help|attention)|(?:please |bitte )?(?:contact|write to|reach out to) (?:my colleague|our|\\p{L}{2,15} (?:at|on|under)|[^.!? ]{2,40}@)|(?:wenden sie sich|wende dich) (?:bitte )?an|kontaktieren sie|vertret(?:en|ung)|veuillez (?:contacter|vous adresser)|adressez-vous|(?:diríjase|dirigirse|póngase en contacto)|rivolger(?:si|vi)|(?:può|potete|si prega di) contattare|(?:entre em contato|contacte) com|neem(?: dan)? contact op|kontakta (?:min|mig|vår)|kontakt (?:min|venligst|vennligst)|proszę o kontakt z|kontaktujte|forduljon|contactați|обращайтесь|звертайтеся|başvurun|ile iletişime geç|απευθυνθείτε';

/** An author of themselves, before words for an absence. */
export const I_AM =
  "i (?:am|will be)|i['’](?:m|ll be)|ich (?:bin|befinde mich)|(?:bin|befinde) ich(?: mich)?|je (?:suis|serai)|estoy|estaré|sono|sarò|estou|estarei|ik ben|ben ik|jag är|är jag|jeg er|er jeg|olen|jestem|będę|jsem|budu|som|sunt|vagyok|leszek|я (?:нахожусь|буду|сейчас)|нахожусь|я (?:перебуваю|у відпустці)|είμαι|θα είμαι";

/** An author of themselves, who is back on a day: `I will return on Monday`; goods and guests return, too. */
export const RETURNS =
  "(?:i (?:will|am|shall)|i['’](?:ll|m)|(?:and|but) (?:will|am)) (?:be )?(?:return(?:ing)?|back|again)(?!\\p{L})|i return (?:on|in|to)|(?:bin|werde) [^.!?]{0,40}(?:zurück|erreichbar|im büro|wieder da)(?!\\p{L})|serai de retour|je reviens|(?:vuelvo|regreso|regresaré|volveré|estaré de vuelta)|(?:rientr|torn)(?:o|erò)(?!\\p{L})|(?:volto|regresso|voltarei|regressarei)|ben ik [^.!?]{0,30}(?:terug|aanwezig|bereikbaar)|(?:är jag|jag är) [^.!?]{0,20}(?:tillbaka|åter)|(?:er jeg|jeg er) [^.!?]{0,20}(?:tilbage|tilbake)|palaan|wracam|wrócę|vrátím se|vrátim sa|visszatérek|revin|вернусь|повернусь|döneceğim|επιστρέφω";

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

/** Says that what follows is the reader's: `your`. */
export const YOURS =
  'your|ihre?[nrms]?|deine?[nr]?|eure?|votre|vos|ta|tus?|sus?|il tuo|il suo|la tua|la sua|tua|sua|seu|teu|vossa|uw|je|jouw|jullie|twój|twoj[ea]|twoją|państwa|din|ditt|dit|deres|er|ert|vaš[aeiu]?|váš|vaše|vaši|tvoj[ae]?|ваш[аеу]?|ваше|тво[йея]|your|teie|jūsų|jūsu|el vostre|la vostra|στο|το|την|您的?|你的?';
/** What people send, in many languages; `order` is in none of them, since shops confirm those. */
export const MAILS =
  'e-?mails?|mails?|mejl|messag|nachricht|anfrage|anliegen|schreiben|zuschrift|tickets?|requests?|inquir|enquir|quer(?:y|ies)|case|questions?|complaints?|beschwerde|réclamation|plainte|reclamaci|reclamo|reclama[çc]|queja|klacht|klagom|reklamac|skarg|stížnost|sťažnost|panasz|plânger|жалоб|скарг|şikayet|παράπον|applications?|bewerbung|candidatur|sollicitat|ansökan|søknad|feedback|submission|courriel|demande|requête|mensaje|correo|solicitud|consulta|richiest|segnalazion|messaggi|mensag|solicita|chamado|contat|bericht|aanvraag|vraag|melding|verzoek|wiadomoś|zgłoszeni|zapytani|meddeland|ärende|förfråg|fråg|henvendels|forespørs|besked|zpráv|požadav|dotaz|správ|požiadav|zahtjev|upit|poruk|zahtev|sporočil|vprašanj|kiri|päring|laišk|užklaus|ziņ|pieprasīj|missatge|sol·licitud|письм|сообщени|обращени|запрос|заявк|вопрос|лист|звернен|запит|повідомл|съобщени|запитван|порук|захтев|cerer|solicit|mesaj|μήνυμ|αίτημ|ερώτημ|来信|邮件|咨询|请求|工单|來信|郵件|諮詢|請求';
/** The same in one word or with particles: Finnish, Hungarian, Turkish, Semitic languages, and those of Asia. */
export const YOUR_MAILS =
  '(?:mesajul|solicitarea|cererea|e-?mailul) (?:dumneavoastră|dvs|tău|ta)|(?:henvendelsen|meldingen|e-?posten|forespørselen|saken|søknaden) (?:din|deres)|viestin?(?:ne|si)|yhteydenotto(?:nne|si)|pyyntö(?:nne|si)|(?:üzenet|level|megkeresés|kérés|bejelentés|e-?mail)[éeü]?(?:t|é)|(?:mesaj|talep|taleb|ileti|e-?posta|başvuru|istek|isteğ)(?:ı|i|u|ü)?n[ıiuü]z|הודעתך|פנייתך|בקשתך|הפנייה שלך|رسالتك|رسالتكم|طلبك|استفسارك|پیام شما|درخواست شما|(?:आपका|आपके|आपकी) (?:संदेश|अनुरोध|ईमेल|प्रश्न)|อีเมลของคุณ|ข้อความของคุณ|คำขอของคุณ|(?:pesan|permintaan|pertanyaan|e-?mel|email|mesej|permohonan) (?:anda|saudara|kamu)|(?:tin nhắn|yêu cầu|thư|email) của (?:bạn|quý)|来信|來信|来函|お問い?合わ?せ|(?:ご連絡|ご質問|ご依頼|メール)|문의|(?:보내주신|귀하의) ?(?:메일|메시지|문의)';
/** Says that it arrived, or is on a list. */
export const RECEIVED =
  'received|recei[vp]t|(?<!\\p{L})got(?!\\p{L})|registered|recorded|logged|opened|created|submitted|assigned|eingegangen|erhalten|empfangen|registriert|erfasst|eröffnet|angelegt|aufgenommen|reçue?s?(?!\\p{L})|enregistrée?|pris(?:e)? en (?:compte|charge)|été transmise?|recib(?:id|imos|o)|registrad|creado|creada|ricevut|registrat|preso in carico|presa in carico|apert[ao]|receb(?:id|emos)|abert[ao]|criad[ao]|ontvangen|geregistreerd|aangemaakt|otrzyma|przyjęt|zarejestrowan|utworzon|wpłynę|mottag|mottatt|modtage|registrer|vastaanot|saapunut|přijat|přijal|obdržel|zaregistrov|zaevidov|prijat|prijal|megkapt|beérkez|megérkez|rögzít|iktat|primit|înregistrat|получен|получил|принят|зарегистрирован|создан|отриман|отримал|прийнят|зареєстр|получих|регистриран|zaprim|primili|primljen|prejel|prejet|saime|kätte|registreeri|gavome|gauta|saņem|reģistrē|hem rebut|rebut|alınmış|alındı|aldık|ulaş|kaydedil|oluşturul|ελήφθη|λάβαμε|παραλάβ|καταχωρ|התקבל|קיבלנו|נפתח|استلم|استلام|تلقينا|دریافت|प्राप्त|मिल गय|diterima|terima|đã nhận|tiếp nhận|ได้รับ|受け付け|受付|承りました|受信いたし|受理いたし|收到|受理|已创建|已建立|已提交|접수|수신되|받았습니다';
/** Thanks as programs begin with them; people reply to what they thank for. */
export const THANKS =
  'thank(?:s| you)|dank|merci|gracias|grazie|obrigad|bedankt|dzięku|tack för|tak for|takk for|kiitos|kiitämme|děkuj|ďakuj|köszön|mulțum|спасибо|благодар|дякуємо|hvala|zahvalj|täname|aitäh|ačiū|dėkoj|paldies|gràcies|teşekkür|ευχαριστ|תודה|شكر|متشکر|سپاس|धन्यवाद|terima kasih|cảm ơn|ขอบคุณ|ありがとう|感谢|感謝|谢谢|감사';
/** What else they thank for. */
export const CONTACTED =
  'contacting|reaching out|getting in touch|writing (?:in|to)|contact with|kontaktaufnahme|interesse|(?:nous )?avoir contacté|contactar|escribir|averci (?:contattat|scritt)|contatt|entrar em contato|contato|contacto|contact(?:o|eren)|kontakt|yhteydenot|kapcsolat|contactat|обращени|звернення|obracanie|temas|iletişim|επικοινων|פנית|שפנית|تواصلك|تماس|संपर्क|menghubungi|liên hệ|ติดต่อ|お問い?合わ?せ|联系|聯絡|문의';
/** Promises that people will reply. */
export const WILL_REPLY =
  "(?:will|shall|['’]ll) (?:\\p{L}{1,12} ){0,3}(?:repl|respond|answer|get back|be in touch|contact|review|look into)|repl(?:y|ies) (?:within|may take|soon)|hear (?:back )?from us|respond within|melden (?:wir )?uns|(?:werden|wird|werde) [^.!?]{0,60}(?:antwort|melden|bearbeit|kontakt)|beantwort[^.!?]{0,40}(?:innerhalb|schnellst|baldm|so bald|so schnell|danach|sobald)|répond(?:rons|rai|ra)|reviendrons|reviendrai|recontact|prendr(?:a|ons) contact|(?:le|te) (?:responder|contestar)|responderemos|contestaremos|responder[áé]|(?:pondr\\p{L}{1,5}) en contacto|contactaremos|risponder(?:emo|à|ò)|ricontatter|sarai contattat|sarà contattat|entrar(?:emos|á) em contat|retornaremos|(?:reageren|antwoorden|beantwoorden) [^.!?]{0,40}(?:binnen|zo s)|binnen [^.!?]{0,30}(?:reactie|antwoord)|(?:neemt|nemen) [^.!?]{0,30}contact|odpowiemy|odpowiem|skontaktuj|odezw|återkommer|besvaras|vender tilbage|besvarer|svarer (?:dig|deg|deg|dem)|tar kontakt|kontakter (?:dig|deg)|vastaamme|vastaan|palaamme|otamme (?:teihin|sinuun)|odpovíme|odpovím|ozveme|budeme (?:vás )?kontaktovat|odpovieme|budeme vás kontaktovať|válaszol(?:unk|ni|juk|nak)|felvesszük|răspunde|vom reveni|vom contacta|ответим|отвечу|свяжемся|свяжется|рассмотр|відповімо|відповім|зв['’]яжемось|зв['’]яжеться|отговорим|свържем|odgovorit|javit ćemo|kontaktirat|odgovorili|vastame|võtame (?:teiega )?ühendust|atsakysime|susisieksime|atbildēsim|sazināsimies|respondrem|contactarem|yanıt vereceğ|yanıtlayaca|yanıtlanaca|dönüş yap|iletişime geç|απαντήσ(?:ουμε|ω)|επικοινωνήσ|נחזור|ניצור|נענה|سنرد|سنتواصل|سيتم الرد|سأرد|پاسخ خواهیم|(?:उत्तर|जवाब) देंगे|membalas|merespon|menghubungi anda|phản hồi (?:sớm|trong|lại)|trả lời (?:sớm|trong)|ติดต่อกลับ|ตอบกลับ|(?:担当者|営業日)[^。]{0,14}(?:ご?連絡|ご?返信|回答|返答)|ご連絡(?:いたします|申し上げ|差し上げ)|改めて|追って|折り返し|順次|(?:尽快|儘快|稍后|将在|會在|将会|與您|与您)[^。]{0,12}(?:回复|回覆|处理|處理|联系|聯絡|答复)|(?:빠른|곧|순차|영업일)[^.]{0,14}(?:답변|연락|회신)";
/** Says that someone works on it, or when. */
export const SOON =
  'werktag|arbeitstag|jours ouvr|días (?:hábiles|laborables)|giorni lavorativi|dias úteis|werkdagen|dni robocz|arbetsdagar|hverdage|virkedager|arkipäiv|pracovn\\p{L}{1,3} dn|munkanap|zile lucrătoare|рабочих дн|робочих дн|iş gün|εργάσιμ|ימי עסקים|أيام عمل|as soon as|asap|shortly|soon(?!\\p{L})|within (?:\\d|one|two|three|the|a few)|(?:business|working) days?|on it\\.|working on it|being (?:processed|reviewed|handled)|so (?:schnell|bald) (?:wie|als)|schnellstm|baldm|umgehend|in kürze|innerhalb|in bearbeitung|brefs délais|meilleurs délais|bientôt|en cours|sous \\d|brevedad|lo antes posible|en breve|dentro de|al più presto|quanto prima|entro|prima possibile|in lavorazione|em breve|brevidade|mais rápido|assim que|zo (?:spoedig|snel)|binnen|in behandeling|najszybciej|wkrótce|w ciągu|w trakcie|så (?:snart|fort)|inom|inden for|innen|hurtigst|snarast|under behandling|mahdollisimman|pian(?!\\p{L})|kuluessa|käsit|co nejdříve|brzy|do \\d|čo najskôr|hamarosan|lehető leg|folyamatban|scurt timp|curând|ближайшее|как можно|в течение|найближч|якомога|възможно най|uskoro|prije|čim prej|peagi|esimesel|netrukus|artimiausi|tuvākaj|drīzum|kısa süre|en yakın|συντομότερο|בהקדם|أقرب وقت|قريبا|به زودی|शीघ्र|जल्द|segera|sớm|โดยเร็ว|なるべく|しばらく|お待ち|营业日|営業日|尽快|儘快|빠른|영업일';

/** Of what is closed for a time. */
export const CLOSED_WORDS =
  "(?:we are|office is|we['’]re|shop is|company is|offices are) closed|geschlossen|betriebsferien|(?:sommes|bureaux sont|est) fermée?s?|estamos cerrad|cerrad[oa]s? por|siamo chiusi|chius[ai] per|estamos fechad|encerrad|gesloten|(?:har|håller) stängt|stängd[at]?|(?:har|holder) (?:ferie)?lukket|(?:holder|har) stengt|suljettu|jesteśmy zamknięci|zamknięt|(?:máme|je) zavřeno|zatvoren|zárva|închis|закрыт|не работаем|зачинен|не працю|затворен|kapalı|κλειστ|休業|休館|放假|停业|휴무";
/** And of what opens again. */
export const REOPENS =
  '(?:re-?open|open again|back (?:again )?on|return on|are back|be back)|wieder (?:für sie|geöffnet|erreichbar|da(?!\\p{L})|zurück)|rouvr|de retour|reabr|(?:de )?vuelta el|riapr|torn(?:iamo|eremo)|voltamos|regressamos|heropen|weer (?:open|geopend|bereikbaar|terug)|öppnar (?:igen|åter)|tillbaka (?:igen|den)|åb(?:ner|nes) igen|åpner igjen|tilbage (?:igen|den)|tilbake (?:igjen|den)|avaamme|palaamme|otwieramy|wracamy|znovu ote|otvorí|vracíme|újra nyit|nyitunk|redeschid|revenim|откро(?:емся|ется)|вернёмся|вернемся|відкри(?:ємось|ється)|otvaramo|отваряме|tekrar aç|açılacak|ανοίγουμε|再開|営業再開|恢复|恢復|재개';

/** Says that a message waits until its sender confirms something. */
export const WAITING =
  'held|waits|waiting|on hold|pending|not been delivered (?:yet|until)|not received|zurückgehalten|wartet|retenu|en attente|retenid|en espera|trattenut|in attesa|retid|aguard|em espera|vastgehouden|wacht|wstrzyman|oczekuje|задержан|ожида|保留|待ち|等待|보류|대기';
export const CONFIRM_WORDS =
  'confirm|verif|approv|whitelist|guest list|bestätig|freigeb|freischalt|valider|authentifi|confirmar|conferm|bevestig|potwierd|подтверд|確認|承認|确认|验证|확인|승인';

/** Robots of mailing lists, by the local part of their addresses. */
export const LIST_ROBOTS = 'listserv|listproc|majordomo|sympa|mailman|lyris|ecartis|mlmmj|ezmlm|smartlist';

/** What is done to a request that has a number, by a program that manages them. */
export const SETTLED =
  '(?:(?:was|were|is|been|being) (?:closed|solved|resolved|merged|updated|assigned|escalated))|wurde [^.!?]{0,30}(?:geschlossen|gelöst|zusammengeführt|aktualisiert)|été (?:clôtur|résolu|ferm|fusionn|mise? à jour)|sido (?:cerrad|resuelt|actualizad|fusionad)|stat[ao] (?:chius|risolt|aggiornat|unit)|foi (?:fechad|encerrad|resolvid|atualizad)|is (?:gesloten|opgelost|bijgewerkt|samengevoegd)|został[ao] (?:zamknięt|rozwiązan|zaktualizowan)|har (?:stängts|lösts|uppdaterats)|er (?:lukket|løst|opdateret|oppdatert)|on (?:suljettu|ratkaistu)|byl[ao]? (?:uzavřen|vyřešen|aktualizován)|lezárt|(?:закрыт|решен|решён|обновлен|закрито|вирішен)|kapatıl|çözül|已(?:关闭|解决|更新)|クローズ|解決済|종료|해결';
/** Says that mail goes no further. */
export const NOT_PASSED_ON =
  'not (?:been |be )?(?:automatically )?(?:forwarded|passed on|read)|nicht (?:automatisch )?(?:weitergeleitet|gelesen)|pas (?:été )?(?:transmis|lu|transféré|redirigé)|no (?:se ha|ha sido|será) (?:reenviad|leíd)|non (?:è stat[oa]|sarà|verrà) (?:inoltrat|lett)|não (?:foi|será) (?:encaminhad|lid)|niet (?:doorgestuurd|gelezen)|inte (?:vidarebefordra|läs)|ikke (?:videresend|læs|lest)|ei (?:ole )?(?:välitet|lueta|luettu)|nie (?:została|zostanie|będzie) (?:przekazan|przeczytan)|nebyla (?:přeposl|předán)|nem (?:kerül|került) továbbít|не (?:будет|было) (?:переслан|прочитан)|не буде переслан';
/** Names of a mailbox that nobody reads. */
export const UNATTENDED =
  '(?:mailbox|inbox|address|account) (?:that|which) (?:can(?:not|[’]t)|does(?: not|n[’]t)) (?:receive|accept|read)|(?:unattended|unmonitored|send-only|outgoing-only) (?:e-?mail |mail )?(?:mailbox|inbox|address|account)|unbeaufsichtigte\\p{L}{0,2} (?:postfach|mailbox)|boîte (?:aux lettres )?non (?:surveillée|relevée|consultée)|buzón (?:no|sin) (?:atendido|supervis|monitor)|casella non (?:presidiata|monitorata)|caixa (?:postal )?não monitorad|onbemande (?:mailbox|postbus)|obevakad (?:brevlåda|inkorg)|ubemannet (?:postkasse|innboks)';
/** Says that a message brings something, as those of programs that confirm others do not. */
export const ATTACHED =
  'attached|enclosed|anbei|im anhang|beigefügt|ci-joint|(?:est|sont) jointe?s?|en pièce jointe|adjunt|in allegato|allegat[ao]|em anexo|anexad|(?:in de )?bijlage|bijgevoegd|bifoga|vedlagt|vedhæft|vedlegg|liitteenä|w załączeniu|załącz|v příloze|přílož|v prílohe|mellékel|csatol|atașat|во вложении|прилага|у вкладенні|ekte|συνημμ|מצורף|مرفق|添付|附件|첨부';
