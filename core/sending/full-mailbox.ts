import { spellings } from './word-patterns.ts';

/** Places for mail and their limits, in many languages, as parts of regular expressions. */
const PLACES = [
  String.raw`mail ?box(?:es)?|inbox|account|quota|storage|space|room|disk|capacity|folder`,
  String.raw`\p{Script=Latin}{0,30}postfach\p{L}{0,30}|posteingang|\p{Script=Latin}{0,30}speicher\p{L}{0,30}|speicherplatz|kontingent|mailbox|\p{Script=Latin}{0,30}fach`,
  String.raw`boîtes?|boites?|messagerie|espace|capacité|stockage|place|quota|buzón|buzon|bandeja|casilla|cuota|espacio|capacidad|almacenamiento`,
  String.raw`casella|spazio|capienza|capacità|caixa|espaço|espaco|cota|armazenamento|capacidade`,
  String.raw`postvak|postbus|brievenbus|inbox|ruimte|opslag\p{L}{0,30}|opslagruimte|skrzynk\p{L}{1,30}|pojemnoś\p{L}{1,30}|miejsc\p{L}{1,30}|schránk\p{L}{1,30}|kapacit\p{L}{1,30}|míst\p{L}{1,30}|miest\p{L}{1,30}|postafiók\p{L}{0,30}|tárhely\p{L}{0,30}|hely`,
  String.raw`căsuț\p{L}{1,30}|spațiu\p{L}{0,30}|ящик\p{L}{0,30}|скриньк\p{L}{1,30}|квот\p{L}{1,30}|мест\p{L}{1,30}|місц\p{L}{1,30}|кутия\p{L}{0,30}|пощенск\p{L}{1,30} кутия|posta kutu\p{L}{1,30}|gelen kutu\p{L}{1,30}|kota\p{L}{0,30}|alan\p{L}{0,30}`,
  String.raw`θυρίδ\p{L}{1,30}|γραμματοκιβώτι\p{L}{1,30}|χώρο\p{L}{0,30}|brevlåd\p{L}{1,30}|inkorg\p{L}{0,30}|postlåd\p{L}{1,30}|lagring\p{L}{0,30}|utrymme\p{L}{0,30}|plads\p{L}{0,30}|plass\p{L}{0,30}|indbakke\p{L}{0,30}|innboks\p{L}{0,30}|postkass\p{L}{1,30}|kvot\p{L}{1,30}|postilaatikko\p{L}{0,30}|postilaatik\p{L}{1,30}|tallennustila\p{L}{0,30}|tila\p{L}{0,30}`,
  String.raw`sandučić\p{L}{0,30}|nabiralnik\p{L}{0,30}|prostor\p{L}{0,30}|תיבת?|מכסה|מקום|صندوق|مساحة|الحصة|سعة|فضای?`,
  String.raw`メールボックス|受信箱|受信ボックス|受信トレイ|容量|空き|保存領域|邮箱|郵箱|信箱|收件箱|收件匣|空间|空間|配额|配額|사서함|편지함|메일함|받은편지함|용량|공간|hộp thư|dung lượng|กล่อง(?:จดหมาย|ขาเข้า)|พื้นที่|kotak (?:surat|masuk)|kuota|penyimpanan|मेलबॉक्स|इनबॉक्स|स्थान`,
];

/** Says that there is no room in them. */
const FULL = [
  String.raw`(?:over)?full|exceed\w{0,30}|over (?:its|the|their|his|her|allotted )|(?:hit|reached) (?:its|the|their|his|her|a) (?:\w{1,30} )?(?:limit|ceiling|maximum|capacity|quota|cap)|no (?:more |free |remaining |available )?(?:room|space)|out of (?:room|space)|no room left|not enough (?:room|space)|insufficient|used up|maxed out|at capacity|overflow\w{0,30}`,
  String.raw`voll|überfüllt|überschritten|ueberschritten|überschreitet|ausgeschöpft|erschöpft|nicht genügend|nicht genug|zu wenig|kein\p{L}{0,30} (?:speicher)?platz|belegt|übergelaufen`,
  String.raw`pleine?s?|saturée?|dépass\p{L}{1,30}|atteint|insuffisant\p{L}{0,30}|plus (?:assez |d'|d’|de )(?:de )?(?:place|espace)|épuisé\p{L}{0,30}|llen[oa]s?|excedi\p{L}{1,30}|excede|superad[oa]|supera|agotad[oa]|insuficiente|(?:sin|falta de) espacio|no admite más`,
  String.raw`pien[oa]|superat[oa]|supera|esaurit[oa]|insufficiente|superato|chei[oa]s?|lotad[oa]|ultrapass\p{L}{1,30}|esgotad[oa]|atingiu|sem espaço|falta de espaço|exced\p{L}{1,30}`,
  String.raw`vol|overschred\p{L}{1,30}|overschrijdt|onvoldoende|geen (?:\p{L}{1,30} )?ruimte|bereikt|pełn\p{L}{1,30}|przepełni\p{L}{1,30}|przekroc\p{L}{1,30}|wyczerpa\p{L}{1,30}|brak(?:uje|ło)? (?:wolnego )?miejsca|zabrakło miejsca|pln[áýéa]|překroč\p{L}{1,30}|prekroč\p{L}{1,30}|vyčerp\p{L}{1,30}|nedostat\p{L}{1,30}|není místo|megtelt|tele|túllép\p{L}{0,30}|betelt|elfogyott`,
  String.raw`plin[ăa]?|depăș\p{L}{1,30}|epuizat\p{L}{0,30}|переполн\p{L}{1,30}|заполнен\p{L}{0,30}|превыш\p{L}{1,30}|исчерпан\p{L}{0,30}|недостаточно|закончил\p{L}{1,30}|нет (?:свободного )?места|переповнен\p{L}{0,30}|перевищ\p{L}{1,30}|вичерпан\p{L}{0,30}|немає місця|препълнен\p{L}{0,30}|надвиш\p{L}{1,30}|dolu|doldu|aşıl\p{L}{1,30}|aşt\p{L}{1,30}|yetersiz|kalmad\p{L}{1,30}`,
  String.raw`γεμάτ\p{L}{1,30}|υπερβ\p{L}{1,30}|υπέρβασ\p{L}{1,30}|πλήρ\p{L}{1,30}|fullt?|överskrid\p{L}{1,30}|slut|inget (?:mer )?utrymme|fyldt?|fuld|overskr\p{L}{1,30}|ikke (?:har )?(?:mere|mer|nok) (?:plads|plass)|täynnä|ylit\p{L}{1,30}|ei riitä|loppu\p{L}{0,30}`,
  String.raw`no space|no room|(?:boş |yeterli )?yer (?:yok|kalma\p{L}{1,10})|alan (?:yok|kalma\p{L}{1,10})|места нет|місця немає|няма (?:свободно )?място|nie ma (?:już |wolnego )?miejsca|nemá (?:už |volné |dost )?míst\p{L}|nemá (?:už |voľné )?miest\p{L}|nincs (?:már |több |elég |szabad )?hely|nu (?:mai )?(?:are|este|există) (?:loc|spațiu)|δεν (?:έχει|υπάρχει) (?:άλλο |αρκετό |διαθέσιμο )?χώρο\p{L}?|nema (?:više |dovoljno |slobodnog )?(?:mjesta|mesta|prostora)|אין (?:יותר )?מקום|(?:لا توجد|لا يوجد|لا تتوفر) (?:مساحة|مكان)|فضای? کافی|ei ole (?:enää |tarpeeksi )?tilaa|n'a plus (?:de |d')|n'y a plus (?:de |d')|no tiene (?:más )?(?:espacio|sitio)|non ha (?:più )?(?:spazio|posto)|não tem (?:mais )?espaço`,
  String.raw`pun[ioa]?|prekorač\p{L}{1,30}|poln\p{L}{0,30}|presež\p{L}{1,30}|מלא\p{L}{0,30}|ممتل\p{L}{0,30}|تجاوز\p{L}{0,30}|پر است`,
  String.raw`いっぱい|一杯|満杯|超過|超え|オーバー|不足|(?:容量|空き|領域|スペース)[はがも]?(?:もう|十分に)?(?:ありません|ない)|已满|已滿|满了|爆满|超出|超过|超過|没有(?:剩余|足够|可用)|沒有(?:剩餘|足夠)|不够|가득|꽉|초과|부족|(?:공간|용량)[이은도가]? ?(?:더 ?이상 ?|남아 ?)?없|đầy|vượt|hết|เต็ม|เกิน|penuh|melebihi|भर|पूर्ण`,
];

/** Clauses about the size of the message, not about the mailbox. */
const SIZE =
  /(?:messages?|mail|e-?mail|attachments?|nachricht|anhang|courriel|pièce jointe|mensaje|adjunto|messaggio|allegato|mensagem|anexo|bericht|bijlage|wiadomoś\p{L}{1,30}|сообщени\p{L}{1,30}|письм\p{L}{1,30}) (?:size|is too|too|exceeds|exceeded|ist zu|trop|demasiado|troppo|muito|te groot|слишком)|(?:size|größe|taille|tamaño|dimensione|tamanho|grootte|rozmiar|размер) (?:of (?:the|your)|der|ihrer|du|de la|del|della|da|van|wiadomo\p{L}{1,30}) (?:message|mail|nachricht|mensaje|messaggio|mensagem|bericht)|\brate\b|\bconnections?\b|\bper (?:hour|day|minute)\b/u;

/** `Your account is full of spam complaints`. */
export const FULL_OF = /(?<!\p{L})full of(?!\p{L})/u;

/** Clauses about a list or about spam: `Your account is full of spam complaints`, `Your space in our list is full`. */
const NO_ROOM_MEANT =
  /(?<!\p{L})(?:full of|voll (?:von|mit)|voller|pleine?s? d[e'’]|llen[oa]s? de|pien[oa] d[i'’]|chei[oa]s? de|vol met|pełn\p{L}{1,30} spam)(?!\p{L})|spam|(?<!\p{L})(?:our|the|this|your|an?|mailing|discussion|block|black|deny|allow|white|grey|gray)[ -]?(?:\p{L}{1,20} )?lists?(?!\p{L})|(?<!\p{L})block(?:ed|ing|list\p{L}{0,5})(?!\p{L})/u;

const BEFORE = '(?<![\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}\\p{Script=Hebrew}])';
const BEHIND = '(?![\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}\\p{Script=Hebrew}])';
/** Vietnamese words without their marks are words of other languages: `hết`, `het`. */
function joinWords(languages: readonly string[]): string {
  return languages.flatMap((words, at) => (at === languages.length - 1 ? [words] : spellings(words))).join('|');
}

const PLACE = new RegExp(`${BEFORE}(?:${joinWords(PLACES)})${BEHIND}`, 'u');
const IS_FULL = new RegExp(`${BEFORE}(?:${joinWords(FULL)})${BEHIND}`, 'u');

const MAX_CLAUSE_LENGTH = 400;
const CLAUSE_END = /[;!?。！？；|]|\.(?=\s|$)/u;

/** Returns whether a clause of a text, in lower case, says that a mailbox has no room left, in any order of words. */
export function saysFull(text: string): boolean {
  return text
    .split(CLAUSE_END)
    .some(
      (clause) =>
        clause.length <= MAX_CLAUSE_LENGTH &&
        IS_FULL.test(clause) &&
        PLACE.test(clause) &&
        !SIZE.test(clause) &&
        !NO_ROOM_MEANT.test(clause),
    );
}
