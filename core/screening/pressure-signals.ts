import { CONCEPT, hasAll, hasAny } from './concept.ts';
import type { Signal } from './machine-signals.ts';
import type { Sentence } from './survey-text.ts';
import type { Token } from './tokens.ts';

/** Secrets with a name of several words. */
const SECRET_NAME =
  /\b(?:(?:verification|security|access|confirmation|one-time|one time|login|sms|2fa|authentication|backup|recovery|gift card|passport|pin) codes?|api[- ]keys?|(?:secret|private|access|ssh) keys?|(?:\w+-digit) codes?|(?<=\b(?:the|this|that|your|an?|any|digit|new|newest|latest|last) )code (?:that )?you(?:'ll| will)? (?:receive|received|get|got)|(?:recovery|seed|secret) (?:phrase|words)|(?:credit |debit |bank )?card (?:number|details)|social security|date of birth|(?:login|log-in|account|bank(?:ing)?|billing|payment|financial) (?:details|credentials|data|information)|session (?:token|cookie)|mot de passe|codigo de verificacion|codice di verifica|numero de (?:tarjeta|cartao)|numero di carta|kreditkarten\w*)\b/;
/** A time that is too short to ask back. */
const NUMBER =
  '(?:\\d{1,2}|an?|one|two|three|four|five|six|ten|fifteen|twenty|thirty|twelve|funf|zehn|cinq|dix|cinco|diez|cinque|dieci|dez|vijf|tien|piec|fem|pet|bes|ein(?:er|em)?|zwei|drei|une?|deux|trois|una?|uno|dos|tres|due|tre|um|dois|duas|een|twee|drie|jedn\\w*|dwie|dwoch|trzech|en|ett|to|tva|jedne|dvou|dve|iki|bir|uc|kaksi|dua|hai|doua|ket|2|24)';
const HOURS =
  '(?:hours?|hrs?|minutes?|stunden?|minuten|heures?|horas?|ore|ora|minuti|minutos|uur|godzin\\w*|minut\\w*|timmar|timme|timer|time|hodin\\w*|saat|dakika|tunnin|tunti\\w*|jam|gio|oran belul|ора)';
const SHORT_TIME = new RegExp(
  `\\b(?:within|in|in the next|innerhalb von|innert|binnen|over|dans(?: les)?|sous|d'ici|en(?: las proximas| menos de)?|dentro de|entre|entro|fra|em(?: ate)?|w ciagu|za|v techenie|inom|om|inden for|behov|do|behem|icinde|dalam|trong)\\s+(?:the (?:next )?|de )?${NUMBER}\\s*${HOURS}\\b|\\b${NUMBER} saat i[cç]inde|\\b\\d{1,2}\\s?h\\b|\\b(?:right now|right away|at once|as soon as possible|without delay|before (?:noon|midnight|\\d{1,2} ?(?:am|pm)|\\d{1,2}:\\d\\d|the end of (?:the )?(?:day|business)|close of business)|by (?:midnight|tonight|noon|end of day|\\d{1,2} ?(?:am|pm)|\\d{1,2}:\\d\\d)|no time to|in the next minute|(?:do it|pay|send|reply|respond|transfer|act|call|need it) (?:now|today|tonight)|avant midi|avant minuit|avant ce soir|vor mittag|bis mittag|bis mitternacht|antes del mediodia|antes de las \\d|entro mezzogiorno|prima di mezzogiorno|antes do meio-dia|voor de middag|przed poludniem)\\b|(?:24|[2-6]|二|两|兩|三|数|几)\\s?(?:小时|小時|時間|个小时|個小時|分钟|分)(?:以内|以內|内|內|后|後)|(?:24|[2-6]|\u1103\u116e|두|세) ?시간|(?:через|в течение|за)\\s+(?:\\d{1,2}|два|две|три|один|час|одного|двух|трех)\\s*(?:час\\S*|минут\\S*)?|(?:خلال|في غضون) (?:ساعه|ساعتين|ساعة|\\d{1,2} ساع\\S*|دقائق)|תוך (?:שעה|שעתיים|\\d{1,2} שעות)|(?:दो|एक|\\d{1,2}) घंट`.normalize(
    'NFKD',
  ),
);
const WEAK_TIME =
  /\b(?:today|tonight|heute|aujourd'hui|hoy|oggi|hoje|vandaag|dzis|dzisiaj|idag|i dag|bugun|now|jetzt)\b|сегодня|今天|今日|오늘/;
const IBAN = /\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){3,7}/;
/** A transfer that is asked for by its noun, or with "must leave". */
const TRANSFER =
  /\b(?:transfer(?:red)?|wired?|paid|virement|uberweisung|transferencia|bonifico|overboeking|przelew\w*|overforing|prevod\w*|havale)\b|перевод|汇款|匯款|振込|송금|تحويل/;
/** What happens otherwise. */
const OR_ELSE =
  /\b(?:or (?:we|i|else)|otherwise|sonst|andernfalls|sinon|altrimenti|caso contrario|de lo contrario|anders)\b|иначе|否则/;
const CHANGED_ACCOUNT =
  /\b(?:new|changed|updated|different|other|neue[nsr]?|nouveau|nouvelle|nueva|nuovo|nova|nieuwe|nowe|novy|nytt|ny|yeni)\b.{0,40}\b(?:account|iban|bank|konto|compte|cuenta|conto|conta|rekening|hesab)|\b(?:bank|account|payment) (?:details|data|information) (?:has|have) changed|новый сч[её]т/;
const COIN =
  /\b(?:bc1[a-z0-9]{20,60}|[13][a-km-z1-9]{25,34}|0x[0-9a-f]{40}|\d[\d.,]* ?(?:btc|eth|usdt|xmr)|bitcoins?)\b/;
const BELOW =
  /\b(?:account|details|beneficiary|iban) (?:below|attached|following|enclosed)|(?:following|attached|below) (?:account|iban|details)\b/;
const CUT_OFF =
  /\b(?:in a (?:meeting|conference)|can(?:not|'t) (?:talk|call|take calls)|between (?:us|you and me)|keep (?:this|it) (?:between|quiet|confidential|secret|to yourself)|do(?: not|n't) (?:tell|discuss|mention|share|talk|speak)|tell no ?one|no one else|boarding|on (?:a|the|my) (?:plane|flight)|my phone|can(?:not|'t) be reached|only (?:by|via|over) e-?mail|(?:do not|don't) call|quietly|discreetly|usual process|skip the|bypass the|strictly confidential|confidential (?:acquisition|deal|matter|transfer|transaction|project)|explain (?:later|on \w+day|tomorrow|everything)|mit niemandem|zu niemandem|nicht telefonieren|in einer (?:sitzung|besprechung)|erklare (?:ich )?(?:dir|ihnen) spater|vertraulich\w*|personne d'autre|a personne|en reunion|je vous expliquerai|je t'expliquerai|confidentiel\w*|con nadie|a nadie|en una reunion|te explico|le explico|confidencial\w*|con nessuno|a nessuno|in riunione|ti spiego|riservat\w*|com ninguem|a ninguem|em reuniao|explico depois|met niemand|in een vergadering|vertrouwelijk\w*|z nikim|nikomu|na spotkaniu|poufn\w*|med ingen|i ett mote|konfidentiell\w*|toplantidayim|kimseye|gizli)\b|никому|на совещании|конфиденциальн|会议中|不要告诉|保密|会議中|誰にも|内密|اجتماع|لا تخبر|سري|לאף אחד/;
const GIFT_CARDS =
  /\b(?:gutscheinkarten?|gutschein-?codes?|guthabenkarten?|carte?s? regalo|carta regalo|buoni regalo|cart(?:ao|oes)[- ]presente|vales?[- ]presente|cadeaukaart\w*|cadeaubon\w*|kart\w* (?:podarunkow\w*|upominkow\w*)|presentkort\w*|gavekort\w*|darkov\w* (?:kart\w*|poukaz\w*)|hediye kart\w*)\b|подарочн\S+ карт|礼品卡|禮品卡|ギフトカード|بطاقات? هداي|\b(?:gift|itunes|steam|google play|amazon|apple|prepaid)[ -]?(?:gift )?(?:cards?|vouchers?)\b|\bgeschenkkarten?\b|\bcartes? cadeaux?\b|\btarjetas? (?:de )?regalo\b/;
const AMOUNT =
  /(?:[$€£¥]|\b(?:usd|eur|gbp|chf|euros?|dollars?|pounds?))\s?\d|\d[\d.,\s]*(?:[$€£¥]|\b(?:usd|eur|gbp|chf|euros?|dollars?|pounds|k\b))/;
/** What an extortioner says that he has, and to whom he sends it. */
const EXTORTS =
  /\b(?:recordings?|recorded|videos?|webcam|camera|footage|photos?|pictures?|intimate|your (?:files|data|contacts|friends|family|address book|browsing)|leak|publish\w*|encrypted|aufnahmen?|aufgezeichnet|kontakten|enregistre\w*|vos contacts|grabacion\w*|tus contactos|registrazion\w*|contatti|gravac\w*|contatos|opnames?|nagrani\w*|inspelning\w*)\b|запис|видео|контакт|录像|视频|録画|동영상|تسجيل/;
/** The address of a wallet. */
const WALLET = /\b(?:bc1[a-z0-9]{20,60}|[13][a-km-z1-9]{25,34}|0x[0-9a-f]{40})\b/;
/** What tells a threat with a recording from news of one: it is of the reader, or others get to see it. */
const MENACES =
  /\b(?:unless|(?:recorded|filmed|hacked|watched|watching) you|(?:videos?|recordings?|footage|photos?|pictures?|files) of you|your (?:webcam|camera|screen|device|computer|files|data|contacts|friends|family|address book|browsing|secrets?)|(?:all|everybody|everyone|anyone) (?:you know|in your)|goes? to (?:all|everybody|everyone|your)|(?:i|we) (?:will |shall |'ll )?(?:leak|publish|expose)|von (?:dir|ihnen)|dein\w* (?:kontakt\w*|webcam|kamera|familie|freunde\w*|dateien)|ihre\w* (?:webcam|kamera|dateien)|de (?:toi|vous)|(?:ta|votre) (?:webcam|camera)|(?:tes|vos) (?:contacts|fichiers)|tuy[ao]s?|(?:tus|sus) (?:contactos|archivos)|(?:tu|su) camara|di te|i tuoi (?:contatti|file)|de voce|seus contatos|van (?:jou|u)|je contacten)\b|твои|ваши|твоих|ваших|тебя|你的|您的|あなたの|당신의|الخاصة بك/;
/** To send coins, for which the word of sending mail is used. */
const SENDS =
  /\b(?:send|sende|schicke?n?|envoie|envoye[rz]|envia\w*|envie|invia\w*|stuur|wyslij|przeslij|skicka|posli|gonder\w*)\b|отправ|переведи|发送|转|送金|보내/;
/** Nouns of the news among the words of paying. */
const OF_NEWS = /^(?:payments?|funds|purchase|buy|deposit|transfer|kauf\w*|paiement|payment)$/;
const MAX_TO_COIN = 60;
/** Words before a verb that turn it into a warning. */
const NEGATED =
  /\b(?:not|never|n't|don't|dont|nicht|nie|niemals|ne|jamais|nunca|no|non|mai|nao|niet|nooit|nie|inte|aldrig|ikke|kein\w*)\b|не |勿|不要|ないで/;

/** Names of what one signs in with, in folded text; codes of errors, orders, parcels and the like have other names. */
const SIGN_IN = [
  String.raw`\b(?:pin|otp|totp|mtan|tan|digits|passcodes?|passwords?|tokens?|pass ?phrases?)`,
  String.raw`\b(?:verif\w+|security|safety|confirmation|access|log-?in|sign-?in|one-?time|single-use|2fa|mfa|two-factor|auth\w*|sms|unlock|reset|recovery|backup|\S+[- ]digit) (?:codes?|passwords?)`,
  String.raw`\bcodes? (?:from|in) (?:the |your |\w+'s )?(?:sms|text(?: message)?|authenticator|app|latest|last|newest|\w+ mail)`,
  String.raw`\b(?:bestatigungs|sicherheits|verifi\w+s|anmelde|login|log-in|einmal|zugangs|freischalt|sms|authentifizierungs|pruf)-?(?:code|kennwort|passwort|pin)\w*`,
  String.raw`\b(?:verificatie|beveiligings|inlog|bevestigings|toegangs|sms|eenmalige )-?(?:code|wachtwoord)\w*`,
  String.raw`\bcode (?:de |d'|par |a )?(?:verification|securite|connexion|confirmation|validation|acces|authentification|usage unique|sms)`,
  String.raw`\bcodigo (?:de |por )?(?:verifica\w+|segur\w+|acceso|acesso|inicio de sesion|confirma\w+|autentica\w+|un solo uso|uso unico|sms)`,
  String.raw`\bcodice (?:di |d'|via )?(?:verifica|sicurezza|accesso|conferma|autenticazione|sms|otp)`,
  String.raw`\bkod\w* (?:weryfik\w+|sms\w*|logowania|dost[eę]pu|bezpiecze\S+|potwierdz\w+|jednorazow\w+|autoryz\w+|verifikasi|otp|keamanan|overovac\w+)`,
  String.raw`\b(?:overovac\w+|potvrzovac\w+|pristupov\w+|prihlasovac\w+|bezpecnostn\w+|dogrulama|guvenlik|onay|giris|sms|kode otp) kod\w*`,
  String.raw`\b(?:verifierings|sakerhets|inloggnings|engangs|bekreftelses|bekraftelse|sikkerheds|sikkerhets|login|sms)-?kod\w*`,
  String.raw`код\S{0,3} (?:подтвержд|безопасн|доступа|верифик|входа|проверки|из смс|из sms)\S*`,
].join('|');
const ARRIVED = String.raw`receiv\w*|got|gets?|texted|sent|mailed|came|arriv\w*|erhalt\w*|erhielt\w*|bekomm\w*|bekam\w*|zugeschickt|zugesandt|kam|ankam|recu\w*|ricevut\w*|recib\w*|lleg\w*|receb\w*|chego\w*|enviamos|ontvang\w*|ontving\w*|kreeg|gekregen|otrzyma\w*|przysz\w*|dosta\w*|prise\w*|obdrz\w*|kom|fick|fikk?|modtog|mottog|mottok|terima|masuk|geldi|aldi\w*|приш|получ|надіиш|отрим|прииш`;
const SIGN_IN_ARRIVED = new RegExp(`(?:${SIGN_IN})[,)]? (?:\\S+ ){0,6}?(?:${ARRIVED})`);
/** A code from the text or the app, whether it is said to have come or not. */
const CODE_IN_TEXT =
  /\bcodes? (?:from|in) (?:the |your |\w+'s )?(?:sms|text|authenticator|app|latest|last|newest|\w+ mail)\b/;
/** A code of which nothing is said but that it came: in most languages what it is of stands before it, in others behind it. */
const BARE_CODE_ARRIVED = new RegExp(
  [
    String.raw`(?:^|\b)(?:the|this|that|your|an?|any|my|these|those|new|newest|latest|last|next|same|short|secret|numeric|current|full|\d+|den|der|dem|das|diesen|ihren|deinen|neuen|de|het|deze|je|uw) codes?,? (?!of|for|fur|voor|zu)(?:\S+ ){0,5}?(?:${ARRIVED})\b`,
    String.raw`\bcode (?:que|qui) (?:\S+ ){0,5}?(?:recu\w*|arriv\w*)`,
    String.raw`\bcodice (?:che|appena) (?:\S+ ){0,5}?(?:arrivat\w*|ricevut\w*)`,
    String.raw`\bcodigo que (?:\S+ ){0,5}?(?:recib\w*|lleg\w*|receb\w*|chego\w*|enviamos)`,
    String.raw`\bkod\w*,? (?:ktor\w*|kter\w*|jenz|som|du|ni|vi|jeg|yang|baru) (?:\S+ ){0,4}?(?:${ARRIVED})`,
    String.raw`\b(?:gelen|aldiginiz|gonderilen) (?:\S+ )?kod`,
    String.raw`код\S{0,3},? (?:котор|як|што|что)\S* (?:\S+ ){0,4}?(?:приш|получ|надіиш|отрим|прииш)`,
  ].join('|'),
);
/** The same in scripts without spaces or with other orders of words. */
const ARRIVED_ELSEWHERE =
  /(?:收到|发送|发到|发给)的?.{0,8}(?:验证码|密码|动态码)|(?:收到|发送|发到|发给)的?代码|(?:届いた|受け取った|送られた).{0,10}(?:コード|番号|ハスワード)|(?:받은|온|보낸) .{0,10}(?:코드|인증|번호)|(?:الرمز|رمز \S+) الذي (?:وصل|استلم|تلق)|קוד \S{0,8} ?ש(?:קיבל|הגיע|נשלח)|\bma (?:\S+ ){0,5}?nhan\b/u;
/** Of whom a code is that came from somebody. */
const FROM_SOMEBODY =
  /\b(?:got|get|gets|received|receive|have|had|bekommen|erhalten|bekamen|gekregen) from (?!(?:us|me|our|my|this|sms|text|the (?:sms|text|app|message|service|system))\b)|\bvon (?!uns\b|mir\b)\S+ (?:bekommen|erhalten)/;

/** To hand something over to who writes; to enter a code on a page is none of it. */
const HANDS_OVER =
  /\b(?:send|sent (?:back|to (?:us|me|this))|paste|forward|reply with|reply to (?:us|me|this)|respond with|return(?:ed)?|dictate|tell (?:us|me)|text (?:it|us|me)|give (?:it|us|me)|read (?:it|them|out|me|us)|schick\w*|sende\w*|fugen?|antworte\w*|teilen? \S+ mit|nenne\w*|leite\w*|envoie\w*|envoye\w*|colle[rz]?|reponde?z?|transmet\w*|communique\w*|envi[ae]\w*|peg(?:a|ue)\w*|respond[ae]\w*|reenvi\w*|mand[ai]\w*|incoll\w*|invi[ai]\w*|rispond\w*|comunic\w*|dett[ai]\w*|cole|encaminh\w*|stuur\w*|plak\w*|antwoord\w*|prze(?:slij|slac|słac)\w*|wy(?:slij|slac|słac)\w*|wklej\w*|podaj\w*|posl[ei]\w*|vloz\w*|sdelt\w*|skicka\w*|klistra|gonder\w*|yapistir\w*|kirim\w*|tempel\w*|gui|dan)\b|пришл|отправ|встав|сообщ|перешл|надішл|продикту|发到|发给|发送|回复|告诉|粘贴|送って|貼り|返信|教え|보내|붙여|알려|ارسل|الصق|שלח|הדבק|भेज/u;
/** Who is told a code at a door or a counter. */
const HANDED_TO =
  /\b(?:courier|driver|rider|delivery|postman|hotel|reception|counter|cashier|shop|store|doctor|pharmacy|kurier\w*|fahrer\w*|boten?|livreur|chauffeur|repartidor|corriere|entregador|bezorger|kasse|caisse)\b/;

/** Returns whether a sentence asks for a code that the reader got by message, with which one signs in, or of which it does not say more. */
function asksBackSecret({ text, mask }: Sentence): boolean {
  if ((mask & CONCEPT.secret) === 0 && !/codes?\b|\b(?:digits|tan|otp|kod\w{0,5}|codigo|codice)\b|код/.test(text))
    return false;
  if (!HANDS_OVER.test(text) || NEGATED.test(text) || HANDED_TO.test(text)) return false;
  if (SIGN_IN_ARRIVED.test(text) || CODE_IN_TEXT.test(text) || ARRIVED_ELSEWHERE.test(text)) return true;
  return BARE_CODE_ARRIVED.test(text) && (!FROM_SOMEBODY.test(text) || OF_ACCOUNTS.test(text));
}

/**
 * Returns the signals of a request for secrets or money that leaves no time to think, in a window of sentences.
 */
export function findPressure(window: readonly Sentence[]): Signal[] {
  const mask = window.reduce((all, each) => all | each.mask, 0);
  const text = window.map((each) => each.text).join('');
  const isShort = SHORT_TIME.test(text);
  const isUrgent = isShort || hasAny(mask, 'urgent');
  const isHurried = isUrgent || WEAK_TIME.test(text);
  if (window.some(asksBackSecret)) return [{ weight: 1, why: 'it asks for a code that came by message' }];
  if (!isHurried) return [];
  const signals: Signal[] = [];
  if (window.some(asksForSecret) && (isUrgent || hasAny(mask, 'threat')))
    signals.push({ weight: 1, why: 'it asks for a secret and leaves no time to think' });
  const isCutOff = CUT_OFF.test(text) || hasAny(mask, 'confidence');
  if (hasAny(mask, 'pay') || (isCutOff && TRANSFER.test(text))) {
    const isTarget = AMOUNT.test(text) || COIN.test(text) || IBAN.test(text) || hasAny(mask, 'account');
    const reasons = [isCutOff, CHANGED_ACCOUNT.test(text), COIN.test(text), BELOW.test(text) && isUrgent].filter(
      Boolean,
    ).length;
    const isPressing = isUrgent || hasAny(mask, 'threat') || OR_ELSE.test(text);
    if (isTarget && isPressing && reasons > 0 && (window.some(asksToPay) || (isCutOff && TRANSFER.test(text))))
      signals.push({ weight: 1, why: 'it asks for money and leaves no time to check' });
  }
  if (isUrgent && COIN.test(text) && EXTORTS.test(text) && isThreat(window, text))
    signals.push({ weight: 1, why: 'it asks for money and threatens' });
  if (
    GIFT_CARDS.test(text) &&
    isUrgent &&
    (isCutOff || /\b(?:codes?|scratch|photos?|pictures?)\b/.test(text)) &&
    hasAny(mask, 'pay', 'send')
  )
    signals.push({ weight: 1, why: 'it asks for gift cards and leaves no time to check' });
  return signals;
}

/** Returns whether a text with coins and recordings asks for coins or threatens, instead of telling of them. */
function isThreat(window: readonly Sentence[], text: string): boolean {
  if (WALLET.test(text) || OR_ELSE.test(text) || MENACES.test(text)) return true;
  return window.some((sentence) => {
    const coin = COIN.exec(sentence.text);
    if (coin === null) return false;
    const near = sentence.text.slice(Math.max(0, coin.index - MAX_TO_COIN), coin.index + MAX_TO_COIN);
    if (SENDS.test(near)) return true;
    return sentence.tokens.some((verb) => {
      const word = sentence.text.slice(verb.start - sentence.start, verb.end - sentence.start);
      const distance = Math.abs(verb.start - sentence.start - coin.index);
      return (verb.mask & CONCEPT.pay) !== 0 && distance <= MAX_TO_COIN && !OF_NEWS.test(word);
    });
  });
}

/** Words between a verb and what it asks for. */
const MAX_WORDS = 9;

function asksForSecret(sentence: Sentence): boolean {
  const { text, mask, tokens, start } = sentence;
  if (!hasAny(mask, 'send', 'act')) return false;
  const opensDoor = OF_A_PLACE.test(text) && !OF_ACCOUNTS.test(text) && !hasAny(mask, 'threat');
  const isSecret = (from: number) =>
    !opensDoor || !OF_A_PLACE.test(text.slice(Math.max(0, from - NEAR_A_PLACE), from + NEAR_A_PLACE));
  const names = tokens.filter((each) => (each.mask & CONCEPT.secret) !== 0 && isSecret(each.start - start));
  const found = SECRET_NAME.exec(text);
  const named = found !== null && isSecret(found.index) ? found : null;
  if (named !== null) {
    const before = tokens.findLast((each) => each.start - start <= named.index);
    names.push({
      start: start + named.index,
      end: start + named.index + named[0].length,
      mask: CONCEPT.secret,
      at: (before?.at ?? 0) + 1,
    });
  }
  if (hasAny(mask, 'threat', 'urgent') && names.length > 0 && CONFIRMS.test(text) && !NEGATED.test(text)) return true;
  return tokens.some((verb) => {
    if ((verb.mask & CONCEPT.send) === 0 || isNegated(sentence, verb)) return false;
    return names.some((name) => {
      const isAfter = name.start >= verb.end;
      const distance = Math.abs(name.at - verb.at);
      const isRequested = isAfter || LAST_VERB.test(text) || SAME.test(text.slice(verb.end - start));
      return distance <= MAX_WORDS && isRequested;
    });
  });
}

/** What a code opens that people ask each other for: a door, a network at home. */
const OF_A_PLACE =
  /\b(?:doors?|gates?|lockers?|garage|key ?(?:box|safe)|lock ?box|letterbox|barrier|bike lock|entrance|wi-?fi|wlan|wireless|haustur\w*|tur|wohnungstur|gartentor|hoftor|tor|schliessfach|schlie(?:ß|ss)fach|schlusselbox|schlusseltresor|fahrradschloss|portail|porte|digicode|boite a cles|puerta|porton|portal|cancello|portone|porta|portao|cofre de chaves|deur|poort|sleutelkluis|drzwi|bramy|furtki|dorr\w*|port\w{0,2}|dor\w{0,3}|dveri|brany|kapi\w*)\b|домофон|двер|калитк|ворот|вай-?фай|门锁|大门|門鎖|無線|无线|暗証番号の鍵|와이파이|현관/;
/** What is no matter of a door, or of more than a door at home. */
const OF_ACCOUNTS =
  /[@]|:\/\/|\b(?:accounts?|bank\w*|cards?|log-?in|e-?mails?|mail(?:box)?|inbox|postfach|konto\w*|compte|cuenta|conto|conta|rekening|router|vpn|admin\w*|verification|verify|one-time|sms|2fa|otp|wallet|servers?|paypal|apple|google|microsoft|amazon|bitcoin|crypto|recovery|backup|seed|gift|passport|company|corporate|office|data ?cent(?:er|re)|vault|safe|firma|firmen\w*|buro|bureau|entreprise|empresa|oficina|azienda|ufficio|escritorio|kantoor|bedrijf|firmy|biura)\b|счет|банк|карт|почт|офис|银行|账户|邮箱|口座|銀行|メール|은행|계좌/;
/** Returns whether folded text is about a door or a network at home, and about no account. */
export function isAboutDoor(text: string): boolean {
  return OF_A_PLACE.test(text) && !OF_ACCOUNTS.test(text);
}

/** Characters between a secret and what it opens. */
const NEAR_A_PLACE = 45;

/** Other verbs that hand over a secret, to who threatens. */
const CONFIRMS = /\b(?:verify|validate|update|re-?enter|supply|submit)\b.{0,40}\b(?:your|the)\b/s;

/** Behind a verb: what was named before. */
const SAME = /^ (?:it|them|ihn|es|sie|le|la|lo|los|las|o|het|hem|go|ho|ji|den|det)\b/;
/** Scripts and languages whose verbs come last. */
const LAST_VERB = /[\u0900-\u097f\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff]|\b(?:sifre|parola|jelszo|salasana)/;

function asksToPay(sentence: Sentence): boolean {
  return (
    hasAll(sentence.mask, 'pay') &&
    sentence.tokens.some((verb) => (verb.mask & CONCEPT.pay) !== 0 && !isNegated(sentence, verb))
  );
}

function isNegated({ text, start }: Sentence, verb: Token): boolean {
  return NEGATED.test(text.slice(Math.max(0, verb.start - start - 24), verb.start - start));
}
