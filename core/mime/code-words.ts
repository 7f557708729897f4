// Words around one-time codes, in many languages, as regular expressions.

/** And in languages whose words for it begin with another letter, or have no spaces between words. */
const FURTHER_CODES = String.raw`(?<!\p{L})(?:i?khodi|kodhi|koodu|koodh?k?a?|kaody|nambari (?:\p{L}{1,6} ){0,2}(?:uthibitisho|siri|usalama)|lambar\p{L}{0,5} (?:tabbatarwa|sirri|xaqiijin\p{L}{0,4})|contrasinal|jednorázov\p{L}{1,3} (?:kľúč|klíč|číslo)|пин|کوڈ|کوډ|کۆد\p{L}{0,4}|ಒಟಿಪಿ)(?!\p{L})|(?:លេខ)?កូដ(?!ប្រៃសណីយ៍)|ကုဒ်|ລະຫັດ(?!ໄປສະນີ)|කේතය|確認用の?番号`;

/** What other codes are of in Thai, right behind the word: of places, goods, customers, members of a staff, students and discounts. */
const THAI_OTHERS = 'ไปรษณีย์|ประเทศ|จังหวัด|สาขา|สินค้า|ลูกค้า|พนักงาน|นักเรียน|นักศึกษา|ส่วนลด|ใบสั่งซื้อ';

/** The word `code` as languages write it, which may end a compound: `code`, `kód`, `kinnituskood`, `kodas`, `კოდი`. */
const CODE = String.raw`(?=[ckкკկकকகకകಕકਕኮ])(?:(?<!\p{L})|(?<=\p{L}{4}))(?:ch?[oó]d(?:e|es|i|is|ul|ului|urile|igos?|ic[ei])?|k[oóô]d(?:iċi|i?ngiz|e[anrst]?|erne|[aiouyąų]|s|as|ai|em|om|ot|ja|j[aá]t|od|un|u\p{L}{1,8})?|kood(?:i\p{L}{0,3}|id|e)?|kóð\p{L}{1,4}|код(?:а|у|ом|ът|ы|ын|ов|и(?!\s\p{L})|ингиз|уңуз|ыңыз)?|კოდ\p{L}{0,3}|կոդ\p{L}{0,3}|कोड|কোড|குறியீடு|కోడ్|കോഡ്|ಕೋಡ್|કોડ|ਕੋਡ|ኮድ\p{L}{0,3})`;

/** What other codes are of, in many languages: `product code`, `Kundencode`, `codice a barre`, `código postal`, `code civil`. */
const OTHER_CODES = [
  // Of goods.
  String.raw`product|produ[ckt]|prodott|proizvod|výrob|termék|tuote|toote|preces|prekės|изделия|товар|продукт|ürün|προϊόν|מוצר|المنتج|محصول|उत्पाद|สินค้า|sản phẩm|produk|art[ií]c|artik|artykuł|cikk|položk|артикул|item|model|part(?!\p{L})|serial|sku|ean|gtin|stock(?!x)|colou?r|farb|bar(?:ras|res?|code)?(?!\p{L})|strich|streep|viiva|kresk`,
  // Of people.
  String.raw`customer|client|klient|kund|klant|müşteri|asiakas|klien|zákazn|ügyfél|cliente|клиент|клієнт|πελάτη|לקוח|العميل|مشتری|ग्राहक|ลูกค้า|khách|pelanggan|vendor|supplier|department|courses?(?!\p{L})|kurs(?!\p{L}{6})|class(?!i|pass|dojo)|module`,
  // Of shops.
  String.raw`promo|discount|rabatt?|coupon|cup[oó]n|voucher|gutschein|geschenk|gift|sconto|descuento|desconto|r[ée]duction|korting|zniżk|slev|popust|kedvezm|reducere|indirim|kampanj|kampan|скидк|знижк|отстъпк|alennus|soodus|nuolaid|atlaid|έκπτωσ|הנחה|خصم|تخفیف|छूट|ส่วนลด|giảm giá|diskon|order|booking|buchung|reserv|flight(?!radar)|track(?!man)|suivi|rastre|seguim|śledz|sendung|tarif`,
  // Of places.
  String.raw`zip(?!\p{L})|post(?!e|bank|finan|man|mates|nord)|poczt|pošt|почтов|пошт|пощенск|ταχυδρομ|בריד|البريد|پستی|ไปรษณีย์|ໄປສະນີ|ប្រៃសណីយ៍|စာတိုက်|තැපැල්|پوسٹل|ډاک|bưu|area(?!\p{L})|country(?!\p{L})|dial(?!pad|og)|vorwahl|lande?s?|pays(?!\p{L})|país|paese|maa(?!\p{L})|suunta|країн|стран(?!иц|н)|регион|регіон|област|телефонн(?=і|ые)|ประเทศ|จังหวัด`,
  // Of offices.
  String.raw`tax(?!fix|act|dome|if)|steuer|fiscal|vergi|sort(?!\p{L})|swift(?!\p{L})|bic|iban|(?<!\p{L}|[\p{L}\p{N}][ -])banks?(?!\p{L})|bankleit\p{L}{2,6}|cost|centro|ape(?!\p{L})|naf(?!\p{L})|nace|civil|p[eé]nal|building|conduct|review`,
  // Of machines.
  String.raw`error|fehler|fault|erreur|errore|fout|felkod|fejl|feil|virhe|viga|błęd|chyb|hiba|eroare|ошибк|помилк|грешк|greš|hata|σφάλμα|שגיאה|الخطأ|خطا|त्रुटि|lỗi|kesalahan|exit|status|response|reason|http|source(?!\p{L})|quell|qr|dress`,
].join('|');

const OTHER_NOUN = String.raw`(?:(?<!\p{L})|(?<=\p{L}{4}))(?:${OTHER_CODES})(?:(?!konto|portal|bereich|bank|zentrum|center|zugang|login|dienst|service)\p{L}){0,9}`;
/** Says right before the word for codes, or right behind it, that it is another code. */
export const OTHER_BEFORE = new RegExp(String.raw`${OTHER_NOUN}[\s-]?$`, 'iu');
export const OTHER_BEHIND = new RegExp(
  String.raw`^\p{L}{0,10} (?:de la |del |de |di |du |des |da |do |a |à |van |of |d['’])?${OTHER_NOUN}`,
  'iu',
);
/** Characters that they take. */
export const MAX_OTHER = 40;

/** Words for codes; short ones must be whole words, long ones may end a compound. */
export const KEYWORDS = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:otp|pin|tan|mtan|(?:mobile?|sms|push|chip|photo|app)-?tan|2fa|mfa|clave|senha|token|mã|parol[aăeiy]?|hasł[oa]|hesl[oa]|sandi|ziffern|digits|chiffres|cifras|cijfers|cyfry|cyfr|siffrorna|siffror|dígitos|digitos|cijferreeks|цифры|цифр|цифри|ψηφία|ה?ספרות|أرقام|rakam(?:ı|lar|ları)?|številke|znamenke|číslice|számjegy\p{L}{0,4}|numerosarja\p{L}{0,2}|cifre|skaitmen\p{L}{1,3})(?![\p{L}\p{N}])|(?<![\p{L}])(?:(?:[4-8]|four|five|six|seven|eight)[- ]digit (?:number|sequence|combination)|(?:verification|security|secret|login|sign-in|one-time|authentication|authorization|activation) (?:number|key|phrase|sequence)|(?:bestätigungs|sicherheits|verifizierungs|prüf|freigabe|anmelde|einmal|aktivierungs)(?:nummer|zahl|schlüssel|kennung|kombination)|(?:vahvistus|varmistus|kirjautumis|todennus|kerta)\p{L}{0,6}(?:tunnus|numero|luku|avain)|(?:bekræftelses|bekreftelses|bekräftelse|verifierings|verifikations|engangs|engångs|sikkerheds)(?:nummer|tal|siffra|siffror)|(?:verificatie|bevestigings|beveiligings)(?:nummer|getal|cijfers|reeks)|(?:clave|número|numero|numéro|clé|chiave|chave) (?:de |di |d['’])?(?:verificaci[oó]n|verifica|vérification|seguridad|sicurezza|sécurité|segurança|verificação|acceso|accesso|accès|acesso|confirmaci[oó]n|única?|temporal|temporária)|numer weryfikacyjny|klucz jednorazowy|ověřovací číslo|overovacie číslo|ellenőrző (?:szám|kulcs)|verification no\.?)(?![\p{L}])|(?:проверочн|контрольн|одноразов|секретн)\p{L}{2,3} (?:номер|число|ключ|комбинаци\p{L})|(?:पुष्टि|सत्यापन|सुरक्षा|प्रमाणीकरण) (?:संख्या|नंबर|अंक)|(?:যাচাইকরণ|নিরাপত্তা) (?:নম্বর|সংখ্যা)|(?:சரிபார்ப்பு|ధృవీకరణ|പരിശോധനാ|ಪರಿಶೀಲನಾ|ચકાસણી) \p{L}\p{M}{0,3}\S{0,12}|(?:passcode|password|passwort|kennwort|${CODE}|mot de passe|contraseña|wachtwoord|lösenord|κωδικ\p{L}{1,3}|пароль|парола|lozink[aeu]|zapork[aeu]|heslo|hesla|jelszó\p{L}{0,3}|jelszav\p{L}{0,3}|tunnusluku\p{L}{0,3}|salasana\p{L}{0,3}|adgangskode[nr]?|passord(?:et)?|parool\p{L}{0,2}|slaptažod\p{L}{1,3}|parole[si]?|mật khẩu|contrasenya|şifre\p{L}{0,6}|رمز|(?<![\p{L}])[הבלכמשו]{0,2}קוד|ओटीपी|पासवर्ड|পাসওয়ার্ড|کد|رمز عبور|סיסמה|סיסמת)(?![\p{L}])|كلمة (?:ال)?(?:مرور|سر)|رمز\p{L}{0,2}|验证码|驗證碼|校验码|动态码|動態碼|安全码|密码|密碼|口令|[取提][件货貨][码碼]|受け?取り?(?:コード|番号)|수령 ?번호|픽업 ?(?:코드|번호)|認証|コード|確認番号|パスワード|인증|코드|비밀번호|본인 ?확인|확인 ?번호|暗証番号|ワンタイム|认证码|認證碼|授权码|授權碼|确认码|確認碼|动态密码|登录码|登入碼|短信码|認証番号|確認コード|数字列|숫자|인증번호|일회용|รหัส(?!${THAI_OTHERS})|ตัวเลข|${FURTHER_CODES}`,
  'giu',
);

/** Words and phrases for other kinds of numbers. */
export const OTHERS = new RegExp(
  String.raw`(?<!your )approval code(?= ?:? ?\d{6}(?!\d))|(?:почтовый|промо)[ -]?индекс|الرمز البريدي|מיקוד|邮政编码|郵便番号|우편번호|pull request|(?:^|[^\p{L}])(?:ending(?: in| with)?|endend auf|endet auf|terminad[ao] e[nm]|se terminant par|che termina con|entidade|refer[eê]ncia|referentie|order|invoice|ticket|case|ref(?:erence)?|account|phone|tel|fax|call|hotline|order no|customer|patent|build|line|page|bestellung|rechnung|ordre|ordine|bestilling|beställning|tilaus|rendelés|megrendelés|comanda|comandă|pesanan|encomenda|bestelling|zakázka|narudžba|naročilo|поръчка|παραγγελία|ऑर्डर|คำสั่งซื้อ|طلبك|الطلب|הזמנה|paket|pakke|colis|paquete|pacco|przesyłka|zásilka|kargo|fatura|faktura|fattura|kunden(?:nummer)?|commande|facture|pedido|factura|telefon\p{L}?|téléphone|teléfono|телефон|kvk|cvr|nip|cui|cif|siret|p\.?iva|vat|адрес|p\.?o\.? box|suite|copyright|rfc|issue|cap|cep|psč|plz|postcode)(?![\p{L}])|订单|訂單|(?:ご)?注文(?:番号)?|送り状番号|주문(?:번호)?|đơn hàng|заказ|замовлення|siparişi?|zamówienie|objednávk\p{L}|ordernummer|bestelnummer|客服|문의(?= ?:? ?\d)|문의처|(?:お客様|会員|商品|製品|管理|顧客)(?:番号|コード)|客户号|会员号|客戶編號|會員編號|(?:고객|회원|상품) ?(?:번호|코드)|お問い?合わ?せ(?:先|窓口)?|咨询热线|电话|電話|운송장|고객센터|전화|〒|(?<![\p{L}])(?!(?:bestätigungs|sicherheits|verifizierungs|prüf|freigabe|anmelde|einmal|aktivierungs|bekræft|bekräft|bekreft|verifi|verifik|engangs|engångs|sikkerheds|bevestig|beveilig|vahvistus|varmistus|kirjautumis|todennus|kerta))\p{Script=Latin}{3,20}(?:nummer|nummern|numret|numero|nr)(?![\p{L}])|(?:customer|client|member|membership|policy|contract|serial|house|room|flight|seat|tracking|reference|document|file|record|student|employee|vehicle|flat|unit)(?: (?:no\.?|number|id))(?![\p{L}])|num[ée]ro de (?:suivi|commande|client|dossier|contrat|téléphone|facture)|n[º°o]\.? (?:de )?(?:client|abonné|commande|dossier|pedido|cliente|contrato|ordine)|abonné n|(?:código|número|numero|codice|código|id) (?:de |del |di )?(?:client[ei]|pedido|ordine|contrato|contratto|referencia|riferimento|utente)|(?<![\p{L}])(?:cpf|cnpj|nif|rfc|pesel|regon|dič|bsn|ssn)(?![\p{L}])|(?:nr|numer) (?:zamówienia|klienta|umowy|telefonu)|číslo (?:objednávky|zákazníka|smlouvy)|(?:номер|№) (?:заказа|замовлення|телефон\p{L}|договора|договору|клиента|поръчка)|(?:会員|お問い?合わせ|顧客|伝票|受付|予約|管理|電話)番号|(?:会员|订单|客户|快递|单|工单)号|(?:회원|고객|예약|송장|전화)번호|[©#№$€£¥]`,
  'giu',
);

/** Words that ask to enter what is right behind them, or before them. */
export const ENTERS =
  /(?<![\p{L}])(?:enter|type(?: in)?|fill in|write down|submit|supply|provide|opište|přepište|zapište|vyplňte|opíšte|prepíšte|vyplňte|naťukajte|kirjoita|näppäile|gépelje be|írd be|add meg|másold be|beírni|escriba|teclee|marque|pulse|copie|preencha|preencher|digitar|inserisca|riporta|riporti|copia|renseignez|composez|reportez|wklep|przepisz|podaj|naber|yazın|yazınız|tuşlayın|наберите|введи|вводите|впишите|набери|наберіть|введи|впишіть|въведи|унесите|упишите|unesi|upišite|vnesite|vpišite|įveskite|ievadiet|sisestage|sláðu inn|introduïu|introdueix|tasta|knappa in|indtaste|skriv|notez|tapa|itik|ilagay|weka|ingiza|أكتب|اكتب|הקלד|הקישו|הקש|הזן את|להזין|להקליד|להקיש|وارد کنید|दर्ज करें|डालें|ใส่|điền|ketik|ketikkan|key in|punch in|copy|paste|input|gib|geben sie|tippen sie|tippe|kopieren sie|kopiere|übertragen sie|saisissez|saisir|recopiez|copiez|indiquez|entrez|tapez|introduce|introduzca|introduzc[ao]|ingresa|ingrese|escribe|teclea|copia|indica|informe|copie|informa|inserisci|inserire|digita|digite|insira|introduza|voer|vul|toets|wpisz|wprowadź|ange|skriv in|mata in|indtast|brug koden|tast inn|skriv inn|syötä|anna|zadejte|zadajte|írja be|adja meg|introduceți|introdu|εισαγάγετε|πληκτρολογήστε|введите|укажите|скопируйте|введіть|вкажіть|въведете|unesite|girin|giriniz|أدخل|ادخل|הזן|הזינו|nhập|masukkan|กรอก|ป้อน)(?![\p{L}])|请?(?:输入|填写|填入|键入)|請?(?:輸入|填寫|填入|鍵入)|入力|打ち込|記入|입력|기입|적어/giu;

/** Words of offers, in whose sentences codes are for shops. */
export const OFFER =
  /\p{N}\s?[%٪]|discount|coupon|voucher|(?:at|during) (?:the )?check-?out|shopping (?:cart|basket|bag)|an der kasse|warenkorb|panier|carrito|carrello|carrinho|winkelwagen|winkelmand|koszyk|корзин|カート|购物车|購物車|장바구니|sepet(?:te|te?n)?(?!\p{L})|gift ?card|geschenkkarte|carte[- ]cadeau|tarjeta (?:de )?regalo|carta regalo|cartão[- ]presente|vale[- ]presente|cadeau(?:kaart|bon)|karta podarunkowa|подарочн|ギフト(?:券|カード)|礼品卡|禮品卡|기프트|rabat|gutschein|remise|réduction|descuento|desconto|cup[oóã]n|cupom|sconto|korting|zniżk|скидк|знижк|отстъпк|indirim|割引|クーポン|优惠|優惠|折扣|할인|쿠폰|خصم|הנחה|έκπτωση|giảm giá|diskon|sleva|slevov|kedvezm|reducere|alennu|ส่วนลด/iu;

/** What follows an amount of money. */
export const CURRENCY =
  /^[ \u00a0]?(?:[€$£¥₹₽₺₩]|(?:eur|euros?|usd|dollars?|gbp|chf|zł|pln|kr|sek|nok|dkk|kč|czk|tl|try|lira|руб\p{L}{0,30}|р|грн|reais|円|元|块|원)(?![\p{L}\p{N}]))/iu;

/** `Use 118 902 to sign in`: digits right behind the word; offers say it of letters. */
export const USED =
  /(?<![\p{L}])(?:use|utilisez|utiliser|usa|usar|use o|usate|usi|utilizza|utilize|utiliza|utilice|gebruik|użyj|bruk|brug|använd|käytä|použijte|použite|koristite|uporabite|folosiți|utilizați|χρησιμοποιήστε|используйте|використайте|използвайте|kullanın|kullanarak|gunakan|dùng|sử dụng|benutzen sie|benutze|verwenden sie|verwende|nutzen sie|nutze|使用)[\s:"'«„“]{0,3}$/iu;

/** Says right before a code, or right behind it, that it is of no use any more: `The previous code 118830`, `118830 is no longer valid`. */
export const SPENT_BEFORE =
  /(?:(?<!\p{L})(?:previous|earlier|old|expired|bisherige[rns]?|vorherige[rns]?|alte[rns]?|précédent|ancien|anterior|antiguo|precedente|vecchio|antigo|vorige|oude|föregående|gamla|tidigare|forrige|tidligere|gamle|edellinen|vanha|poprzedni|stary|předchozí|starý|előző|régi|vechiul|προηγούμεν\p{L}{1,2}|παλι\p{L}{1,3}|предыдущ\p{L}{2,3}|стар(?:ый|ого)|попередн\p{L}{1,3}|старий|önceki|eski|sebelumnya|lama|trước|cũ)(?!\p{L})|以前的|旧|舊|之前|古い|이전|הקודם|السابق|قبلی|पिछला)[^.!?:：。,，;；\p{N}]{0,30}$/iu;
export const SPENT_BEHIND =
  /^[^\p{L}\p{N}]{0,3}(?:\p{L}{1,6} ){0,2}(?:no longer|not valid|expired|abgelaufen|nicht mehr|ungültig|expiré|plus valable|n['’]est plus|caducó|caducad|ya no|non è più|scadut|já não|não é mais|expirou|verlopen|niet meer|gäller inte|ikke længere|ikke lenger|ei ole enää|wygasł|nieważn|nie jest już|vypršel|již ne|neplatí|lejárt|már nem|nu mai|expirat|δεν ισχύει|истёк|истек|больше не|недействител|вже не|geçersiz|artık|süresi dol|kedaluwarsa|hết hạn|已?失效|已?过期|已?過期|は無効|は期限切れ|만료)/iu;
