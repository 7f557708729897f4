// Words around one-time codes, in many languages, as regular expressions.

/** Words for codes; short ones must be whole words, long ones may end a compound. */
export const KEYWORDS =
  /(?<![\p{L}\p{N}])(?:otp|pin|tan|mtan|2fa|mfa|cod(?:ul)?|clave|senha|token|mã|parol[aăeiy]?|hasł[oa]|hesl[oa]|kod(?:u|y|un|unuz|unu|em)?|sandi|ziffern|digits|chiffres|cifras|cijfers|cyfry|siffrorna)(?![\p{L}\p{N}])|(?:passcode|password|passwort|kennwort|codes?|kode[nr]?|kód\p{L}{0,2}|koodi\p{L}{0,3}|código|codigo|codice|mot de passe|contraseña|wachtwoord|lösenord|κωδικός|код(?:а|у|ом)?|пароль|парола|lozink[aeu]|zapork[aeu]|heslo|hesla|jelszó\p{L}{0,3}|jelszav\p{L}{0,3}|tunnusluku\p{L}{0,3}|salasana\p{L}{0,3}|adgangskode[nr]?|passord(?:et)?|parool\p{L}{0,2}|slaptažod\p{L}{1,3}|parole[si]?|mật khẩu|contrasenya|şifre\p{L}{0,6}|رمز|(?<![\p{L}])קוד|कोड|ओटीपी|पासवर्ड|পাসওয়ার্ড|কোড|کد|رمز عبور|סיסמה|סיסמת)(?![\p{L}])|كلمة (?:ال)?(?:مرور|سر)|رمز\p{L}{0,2}|(?:engångs|verifierings|bekræftelses|engangs|sikkerheds)kod\p{L}{0,3}|验证码|驗證碼|校验码|动态码|動態碼|安全码|密码|密碼|口令|認証|コード|確認番号|パスワード|인증|코드|비밀번호|본인 ?확인|확인 ?번호|暗証番号|ワンタイム|รหัส/giu;

/** Words and phrases for other kinds of numbers. */
export const OTHERS =
  /(?:zip|post(?:al)?|promo|discount|coupon|voucher|gift|error|area|country|source|qr|dress|bar|status|track(?:ing)?|booking|rabatt|gutschein|fehler|quell|korting(?:s)?|kampanj)[ -]?codes?|code (?:review|postal|promo)|code (?:de suivi|de réduction|barres)|código (?:postal|promocional|de (?:rastre\p{L}{1,30}|seguimiento|barras|descuento|desconto))|codice (?:fiscale|postale|sconto|di (?:spedizione|tracciamento|tracking))|kod śledzenia|(?:sendungs|tracking|rabatt|gutschein)code|kod pocztowy|posta kodu|(?:почтовый|промо)[ -]?(?:код|индекс)|الرمز البريدي|מיקוד|邮政编码|郵便番号|우편번호|pull request|(?:^|[^\p{L}])(?:order|invoice|ticket|case|ref(?:erence)?|account|phone|tel|fax|call|hotline|order no|customer|patent|build|line|page|bestellung|rechnung|ordre|ordine|bestilling|beställning|tilaus|rendelés|megrendelés|comanda|comandă|pesanan|encomenda|bestelling|zakázka|narudžba|naročilo|поръчка|παραγγελία|ऑर्डर|คำสั่งซื้อ|طلبك|الطلب|הזמנה|paket|pakke|colis|paquete|pacco|przesyłka|zásilka|kargo|fatura|faktura|fattura|kunden(?:nummer)?|commande|facture|pedido|factura|telefon\p{L}?|téléphone|teléfono|телефон|kvk|cvr|nip|cui|cif|siret|p\.?iva|vat|адрес|p\.?o\.? box|suite|copyright|rfc|issue|cap|cep|psč|plz|postcode)(?![\p{L}])|订单|訂單|(?:ご)?注文(?:番号)?|送り状番号|주문(?:번호)?|đơn hàng|заказ|замовлення|siparişi?|zamówienie|objednávk\p{L}|ordernummer|bestelnummer|客服|电话|電話|운송장|고객센터|전화|〒|[©#№$€£¥]/giu;

/** Words that ask to enter what stands right behind them, or before them. */
export const ENTERS =
  /(?<![\p{L}])(?:enter|type(?: in)?|key in|punch in|copy|paste|input|gib|geben sie|tippen sie|tippe|kopieren sie|kopiere|übertragen sie|saisissez|saisir|recopiez|copiez|indiquez|entrez|tapez|introduce|introduzca|introduzc[ao]|ingresa|ingrese|escribe|teclea|copia|indica|informe|copie|informa|inserisci|inserire|digita|digite|insira|introduza|voer|vul|toets|wpisz|wprowadź|ange|skriv in|mata in|indtast|brug koden|tast inn|skriv inn|syötä|anna|zadejte|zadajte|írja be|adja meg|introduceți|introdu|εισαγάγετε|πληκτρολογήστε|введите|укажите|скопируйте|введіть|вкажіть|въведете|unesite|girin|giriniz|أدخل|ادخل|הזן|הזינו|nhập|masukkan|กรอก|ป้อน)(?![\p{L}])|请?输入|請?輸入|入力|입력/giu;

/** Words of offers, in whose sentences codes are for shops. */
export const OFFER =
  /\p{N}\s?[%٪]|discount|coupon|voucher|gift ?card|geschenkkarte|carte[- ]cadeau|tarjeta (?:de )?regalo|carta regalo|cartão[- ]presente|vale[- ]presente|cadeau(?:kaart|bon)|karta podarunkowa|подарочн|ギフト(?:券|カード)|礼品卡|禮品卡|기프트|rabat|gutschein|remise|réduction|descuento|desconto|cup[oóã]n|cupom|sconto|korting|zniżk|скидк|знижк|отстъпк|indirim|割引|クーポン|优惠|優惠|折扣|할인|쿠폰|خصم|הנחה|έκπτωση|giảm giá|diskon|sleva|slevov|kedvezm|reducere|alennu|ส่วนลด/iu;

/** What stands behind an amount of money. */
export const CURRENCY =
  /^[ \u00a0]?(?:[€$£¥₹₽₺₩]|(?:eur|euros?|usd|dollars?|gbp|chf|zł|pln|kr|sek|nok|dkk|kč|czk|tl|try|lira|руб\p{L}{0,30}|р|грн|reais|円|元|块|원)(?![\p{L}\p{N}]))/iu;

/** `Use 118 902 to sign in`: digits right behind the word; offers say it of letters. */
export const USED =
  /(?<![\p{L}])(?:use|utilisez|utiliser|usa|usar|use o|usate|usi|utilizza|utilize|utiliza|utilice|gebruik|użyj|bruk|brug|använd|käytä|použijte|použite|koristite|uporabite|folosiți|utilizați|χρησιμοποιήστε|используйте|використайте|използвайте|kullanın|kullanarak|gunakan|dùng|sử dụng|benutzen sie|benutze|verwenden sie|verwende|nutzen sie|nutze|使用)[\s:"'«„“]{0,3}$/iu;
