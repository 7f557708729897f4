/** Places for mail and their limits, in many languages, as parts of regular expressions. */
const PLACES = [
  String.raw`mail ?box(?:es)?|inbox|account|quota|storage|space|room|disk|capacity|folder`,
  String.raw`\p{L}*postfach\p{L}*|posteingang|\p{L}*speicher\p{L}*|speicherplatz|kontingent|mailbox|\p{L}*fach`,
  String.raw`boîtes?|boites?|messagerie|espace|capacité|stockage|place|quota|buzón|buzon|bandeja|casilla|cuota|espacio|capacidad|almacenamiento`,
  String.raw`casella|spazio|capienza|capacità|caixa|espaço|espaco|cota|armazenamento|capacidade`,
  String.raw`postvak|postbus|brievenbus|inbox|ruimte|opslag\p{L}*|opslagruimte|skrzynk\p{L}+|pojemnoś\p{L}+|miejsc\p{L}+|schránk\p{L}+|kapacit\p{L}+|míst\p{L}+|miest\p{L}+|postafiók\p{L}*|tárhely\p{L}*|hely`,
  String.raw`căsuț\p{L}+|spațiu\p{L}*|ящик\p{L}*|скриньк\p{L}+|квот\p{L}+|мест\p{L}+|місц\p{L}+|кутия\p{L}*|пощенск\p{L}+ кутия|posta kutu\p{L}+|gelen kutu\p{L}+|kota\p{L}*|alan\p{L}*`,
  String.raw`θυρίδ\p{L}+|γραμματοκιβώτι\p{L}+|χώρο\p{L}*|brevlåd\p{L}+|inkorg\p{L}*|postlåd\p{L}+|lagring\p{L}*|utrymme\p{L}*|plads\p{L}*|plass\p{L}*|indbakke\p{L}*|innboks\p{L}*|postkass\p{L}+|kvot\p{L}+|postilaatikko\p{L}*|postilaatik\p{L}+|tallennustila\p{L}*|tila\p{L}*`,
  String.raw`sandučić\p{L}*|nabiralnik\p{L}*|prostor\p{L}*|תיבת?|מכסה|מקום|صندوق|مساحة|الحصة|سعة|فضای?`,
  String.raw`メールボックス|受信箱|受信ボックス|受信トレイ|容量|空き|邮箱|郵箱|信箱|收件箱|收件匣|空间|空間|配额|配額|사서함|편지함|메일함|받은편지함|용량|공간|hộp thư|dung lượng|กล่อง(?:จดหมาย|ขาเข้า)|พื้นที่|kotak (?:surat|masuk)|kuota|penyimpanan|मेलबॉक्स|इनबॉक्स|स्थान`,
].join('|');

/** Says that there is no room in them. */
const FULL = [
  String.raw`(?:over)?full|exceed\w*|over (?:its|the|their|his|her|allotted )|(?:hit|reached) (?:its|the|their|his|her|a) (?:\w+ )?(?:limit|ceiling|maximum|capacity|quota|cap)|no (?:more |free |remaining |available )?(?:room|space)|out of (?:room|space)|no room left|not enough (?:room|space)|insufficient|used up|maxed out|at capacity|overflow\w*`,
  String.raw`voll|überfüllt|überschritten|ueberschritten|überschreitet|ausgeschöpft|erschöpft|nicht genügend|nicht genug|zu wenig|kein\p{L}* (?:speicher)?platz|belegt|übergelaufen`,
  String.raw`pleine?s?|saturée?|dépass\p{L}+|atteint|insuffisant\p{L}*|plus (?:assez |d'|d’|de )(?:de )?(?:place|espace)|épuisé\p{L}*|llen[oa]s?|excedi\p{L}+|excede|superad[oa]|supera|agotad[oa]|insuficiente|(?:sin|falta de) espacio|no admite más`,
  String.raw`pien[oa]|superat[oa]|supera|esaurit[oa]|insufficiente|superato|chei[oa]s?|lotad[oa]|ultrapass\p{L}+|esgotad[oa]|atingiu|sem espaço|falta de espaço|exced\p{L}+`,
  String.raw`vol|overschred\p{L}+|overschrijdt|onvoldoende|geen (?:\p{L}+ )?ruimte|bereikt|pełn\p{L}+|przepełni\p{L}+|przekroc\p{L}+|wyczerpa\p{L}+|brak(?:uje|ło)? (?:wolnego )?miejsca|zabrakło miejsca|pln[áýéa]|překroč\p{L}+|prekroč\p{L}+|vyčerp\p{L}+|nedostat\p{L}+|není místo|megtelt|tele|túllép\p{L}*|betelt|elfogyott`,
  String.raw`plin[ăa]?|depăș\p{L}+|epuizat\p{L}*|переполн\p{L}+|заполнен\p{L}*|превыш\p{L}+|исчерпан\p{L}*|недостаточно|закончил\p{L}+|нет (?:свободного )?места|переповнен\p{L}*|перевищ\p{L}+|вичерпан\p{L}*|немає місця|препълнен\p{L}*|надвиш\p{L}+|dolu|doldu|aşıl\p{L}+|aşt\p{L}+|yetersiz|kalmad\p{L}+`,
  String.raw`γεμάτ\p{L}+|υπερβ\p{L}+|υπέρβασ\p{L}+|πλήρ\p{L}+|fullt?|överskrid\p{L}+|slut|inget (?:mer )?utrymme|fyldt?|fuld|overskr\p{L}+|ikke (?:har )?(?:mere|mer|nok) (?:plads|plass)|täynnä|ylit\p{L}+|ei riitä|loppu\p{L}*`,
  String.raw`pun[ioa]?|prekorač\p{L}+|poln\p{L}*|presež\p{L}+|מלא\p{L}*|ممتل\p{L}*|تجاوز\p{L}*|پر است`,
  String.raw`いっぱい|一杯|満杯|超過|超え|オーバー|不足|ありません|已满|已滿|满了|爆满|超出|超过|超過|没有(?:剩余|足够|可用)|沒有(?:剩餘|足夠)|不够|가득|초과|부족|없|đầy|vượt|hết|เต็ม|เกิน|penuh|melebihi|भर|पूर्ण`,
].join('|');

/** Clauses about the size of the message, not about the mailbox. */
const SIZE =
  /(?:messages?|mail|e-?mail|attachments?|nachricht|anhang|courriel|pièce jointe|mensaje|adjunto|messaggio|allegato|mensagem|anexo|bericht|bijlage|wiadomoś\p{L}+|сообщени\p{L}+|письм\p{L}+) (?:size|is too|too|exceeds|exceeded|ist zu|trop|demasiado|troppo|muito|te groot|слишком)|(?:size|größe|taille|tamaño|dimensione|tamanho|grootte|rozmiar|размер) (?:of (?:the|your)|der|ihrer|du|de la|del|della|da|van|wiadomo\p{L}+) (?:message|mail|nachricht|mensaje|messaggio|mensagem|bericht)|\brate\b|\bconnections?\b|\bper (?:hour|day|minute)\b/u;

const BEFORE = '(?<![\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}\\p{Script=Hebrew}])';
const BEHIND = '(?![\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}\\p{Script=Hebrew}])';
const PLACE = new RegExp(`${BEFORE}(?:${PLACES})${BEHIND}`, 'u');
const IS_FULL = new RegExp(`${BEFORE}(?:${FULL})${BEHIND}`, 'u');

const MAX_CLAUSE_LENGTH = 400;
const CLAUSE_END = /[;!?。！？；|]|\.(?=\s|$)/u;

/** Returns whether a clause of a text, in lower case, says that a mailbox has no room left, in any order of words. */
export function saysFull(text: string): boolean {
  return text
    .split(CLAUSE_END)
    .some(
      (clause) =>
        clause.length <= MAX_CLAUSE_LENGTH && IS_FULL.test(clause) && PLACE.test(clause) && !SIZE.test(clause),
    );
}
