/**
 * Noun phrases that name a recipient and are about a thing: their head is the thing, the recipient modifies it. `Mailbox backend` and
 * `policy for recipient joe` say nothing of a mailbox or a recipient when they are not found; `mailbox for joe` does. Where a language
 * puts the head, and how it marks the modifier, decides: a word there is a thing unless it is a word for a recipient.
 */
interface Phrase {
  /** with the group `head` */
  pattern: RegExp;
  /** heads that are no thing: words for a recipient and its name, and words that are no noun */
  noThing: RegExp;
  /** right before the phrase when a recipient was looked for there */
  place: RegExp;
}

const LATIN = String.raw`[\p{Script=Latin}\p{M}-]`;
const START = String.raw`(?<![\p{L}\p{N}@._-])`;
const END = String.raw`(?![\p{L}\p{N}_@])`;

/** Right before a phrase that is the place where a recipient was looked for: `in the user database`. */
const PLACE =
  /(?<!\p{L})(?:(?:in|on|from|by|at|of|within|with|against|to)(?: (?:the|our|this|its|your|any|a|local|virtual|relay|valid)){0,3}|(?:in|im|auf|aus|bei|op|i|på|hos|uit|von|vom|av|af|från|fra)(?: (?:der|dem|den|unserer|unserem|unsere|de|het|onze|vår|vores))?|(?:dans|en|sur|nel|nella|na|em|à|su|sul|sulla|au|al|alla)(?: (?:la|le|les|el|los|notre|nuestra|nostra|nossa)| l['’])?|(?:w|z|в|из|v|ve|ze|у|з|u|în)(?: \p{L}{3,10})?) ?$|[在于於]$/u;
/** `no` is Portuguese for `in the`, but negates in English: `No mailbox server found`. */
const ROMANCE_PLACE = new RegExp(String.raw`${PLACE.source}|(?<!\p{L})no ?$`, 'u');

function phrase(source: string, noThing: string, place = PLACE): Phrase {
  return { pattern: new RegExp(source, 'gu'), noThing: new RegExp(`^(?:${noThing})$`, 'u'), place };
}

/** English names directly follow their noun, as in `user smith`, so a head there is one of these. */
const THINGS = `servers?|back-?ends?|stores?|storages?|databases?|certificates?|lists?|books?|polic(?:y|ies)|rules?|scripts?|filters?|agents?|services?|plans?|tables?|maps?|drivers?|groups?|managers?|types?|formats?|famil(?:y|ies)|class(?:es)?|quotas?|roots?|profiles?|templates?|images?|(?<!local[ -])parts?(?! of)|footers?|headers?|licen[cs]es?|keys?|tokens?|passwords?|signatures?|permissions?|consents?|limits?|settings?|preferences?|options?|roles?|realms?|plug-?ins?|modules?|handlers?|quer(?:y|ies)|schemas?|indexe?s?|volumes?|partitions?|shards?|nodes?|clusters?|pools?|queues?|ports?|sessions?|connectors?|providers?|contracts?|subscriptions?|invoices?|tickets?|timezones?|languages?|charsets?|encodings?|attachments?|documents?|forms?|pages?|photos?|pictures?|rewriting|mappings?|(?:mx|dns|domain) records?|connections?|regions?|countr(?:y|ies)|cit(?:y|ies)|zones?|tenants?|caches?|folders?|director(?:y|ies)(?! entr)|disks?|mounts?|snapshots?|backups?|archives?|jobs?|tasks?|locks?|hooks?|callbacks?|endpoints?|urls?|prox(?:y|ies)|gateways?|firewalls?|networks?|interfaces?|cookies?|hash(?:es)?|checksums?|tags?|labels?|categor(?:y|ies)|levels?|tiers?|packages?|features?|actions?|events?|triggers?|workflows?|channels?|topics?|buckets?|containers?|rows?|columns?|fields?|attributes?|propert(?:y|ies)|values?|parameters?|variables?|versions?|calendars?|contacts?|drafts?|responders?|vacations?|autoresponders?|signatures?|avatars?|icons?|logos?|themes?|fonts?|colou?rs?|pins?|secrets?|credentials?|devices?|phones?|orders?|payments?|cards?|credits?|balances?|currenc(?:y|ies)|prices?|products?|discounts?|vouchers?|statistics|metrics?|reminders?|surveys?|polls?|votes?|ratings?|transports?|routes?(?! for (?:the |this )?recipient(?:'s)? domain)|boundar(?:y|ies)|delegates?|delegations?`;
const RECIPIENTS = `user accounts?|recipient address(?:es)?|recipients?|users?|mailbox(?:es)?|mail box(?:es)?|inbox(?:es)?|accounts?|address(?:es)?|alias(?:es)?|destinations?|customers?|subscribers?|persons?|members?|employees?|receivers?|addressees?`;
const OF = `(?: plan| root| set| unit)? (?:of|for|by|from|to|on|with|behind|belonging to|assigned to) (?:(?:the|this|that|these|your|our|its|each|any|all|a|an|said|given) ){0,2}`;
const BETWEEN = `[ -](?:(?:mail|e-?mail|domain|access|login|security|delivery|lookup|transport|data|plan|directory|database|server|profile|quota|filter|address|group|agent|vacation|forwarding|storage|policy|rule|template|callback|map|export|calendar|home|alias) )?`;
/** Words for a recipient and its name, and words that are no noun, behind `the user’s`. */
const OWNED = `${RECIPIENTS}|names?|entry|entries|ids?|logins?|usernames?|e-?mails?|mails?|domains?|hosts?|local|not|no|is|was|are|were|has|had|does|unknown|invalid|new|old|primary|could|can|cannot|did|do|will|would|may|must|should`;

/** Where the subject of an English sentence ends. */
const PREDICATES = `not|no|is|was|are|were|has|had|have|does|do|did|doesn't|don't|didn't|isn't|wasn't|could|couldn't|can|can't|cannot|unknown|invalid|missing`;
/** Words between a recipient and a thing that are no nouns. */
const NO_NOUN = `${PREDICATES}|of|for|in|on|at|by|with|from|to|and|or|but|that|which|who|via|per|rejected|found|exists?|listed|also|will|would|may|must|should`;
/** What an address is for, which is another one than that of the recipient. */
const PURPOSES = `vacation|forwarding|forward|reply|return|billing|street|postal|home|ip|mac|reply-to|backup|recovery|bounce`;

/** `certificat du destinataire`: the head comes first, and a preposition links it. */
const ROMANCE = `destinatair[es]{1,2}|utilisateurs?|adresses?|boîtes?|boites?|comptes?|abonnés?|usuarios?|destinatari[oi]s?|destinatári[oi]s?|cuentas?|buz[oó]n(?:es)?|casillas?|direcci[oó]n(?:es)?|utent[ei]|casell[ae]|indirizz[oi]|account|usuários?|contas?|caixas?|endereços?`;
const ROMANCE_OF = String.raw`(?:d['’]|(?:de|des|du|del|della|dello|dell['’]|dei|degli|delle|do|da|dos|das|di|deste|desta|desse|dessa|pour|para|per) ?)(?:l['’]|(?:l|le|la|les|el|los|las|il|lo|i|gli|o|a|os|as|cet|cette|ce|este|esta|questo|questa|un|une) )?`;
const NO_ROMANCE_THING = `${ROMANCE}|lettres|ningun[oa]|ninguna?|algun[oa]s?|un[oa]s?|cada|todos|varios|nessun[oa]?|alcun[oi]|nenhum|algum|certains|quelques|e-?mail|mail|mél|courriel|messagerie|correo|posta|correio|email|postale?|électronique|electronique|electrónic[ao]|electronic[ao]|elettronic[ao]|eletrônic[ao]|noms?|nombres?|nomes?|nome|identifiants?|login|domaine|dominio|domínio|pas|plus|point|jamais|rien|aucune?|trace|absence|ausencia|ausência|assenza|manque|falta|mancanza|carece|dispone|dispose|tiene|tem|hay|existe|existen|existem|esiste|erreur|error|errore|erro|problème|problema|lors|avant|autour|près|antes|después|depois|dopo|prima|acerca|dentro|não|no|non|nunca|mai|más|mais|più|parte|numéro|buzón|caixa|adresse|dirección|endereço|indirizzo|impossible|imposible|impossibile|impossível|tipo|além`;

/** `certifikát příjemce`: the head comes first, the recipient is in the genitive. */
const SLAVIC_GENITIVE = `пользователя|пользователей|получателя|получателей|адресата|абонента|клиента|сотрудника|ящика|аккаунта|користувача|користувачів|отримувача|одержувача|адресата|скриньки|użytkownika|użytkowników|uzytkownika|odbiorcy|odbiorców|odbiorcow|adresata|skrzynki|konta|klienta|pracownika|uživatele|uživatelů|uzivatele|příjemce|příjemců|prijemce|adresáta|schránky|schranky|účtu|uctu|používateľa|pouzivatela|príjemcu|korisnika|primatelja|primaoca|primatelju|sandučića|uporabnika|prejemnika|nabiralnika|računa|корисника|примаоца|destinatarului|utilizatorului|contului|căsuței|casutei|adresei|acestui (?:utilizator|destinatar|cont)|acestei (?:adrese|căsuțe|casute)`;
/** Between a head and its genitive: `сертификат этого пользователя`, `serwer danego użytkownika`. */
const SLAVIC_DETERMINER = `(?:\\p{L}{1,12}(?:ого|его|ього|ої|ей|ых|их|ego|ej|ych|ich|ého|ího|eho|iho|oto|oga|og|ega|estui|estei) )?`;
const NO_SLAVIC_THING = String.raw`\p{L}{1,3}|распозна\p{L}{1,2}|нашёл|нашел|rozpozna\p{L}{1,2}|znalazł\p{L}?|(?!(?:danych|данных|даних)$)\p{L}{2,20}(?:ает|яет|ует|ає|ує|uje|aje|ává|ej|ego|ych|ich|ých|ích|ího|ého|ený|eny|ený|ný|ный|ая|ý|ое|их|ых|ого|его|ий|ій|ої|им|ым|som|nih|nog|og|ih)|серед|среди|wśród|między|mezi|među|між|между|kod|przy|e-?pošt\p{L}|pošt\p{L}|e-?poczt\p{L}|poczt\p{L}|адрес\p{L}{0,3}|ящик\p{L}{0,2}|имя|имени|ім'я|логин|логін|запись|записи|запис\p{L}{0,2}|почтов\p{L}{2,3}|поштов\p{L}{2,3}|скриньк\p{L}{1,2}|аккаунт\p{L}{0,2}|домен\p{L}{0,2}|adres\p{L}{0,3}|skrzynk\p{L}{1,2}|kont[ao]|nazw\p{L}{1,2}|login|schránk\p{L}{1,2}|schrank\p{L}{1,2}|účet|ucet|jméno|meno|domen\p{L}{0,2}|domén\p{L}{0,2}|e-?mail\p{L}{0,3}|почт\p{L}{1,2}|пошт\p{L}{1,2}|box|račun|nalog|sandučić|numele|adresa|contul|căsuța|нет|немає|нема|такого|такої|этого|цього|данного|вашего|нашего|нового|указанного|вказаного|другого|takiego|tego|tej|danego|naszego|podanego|žádného|takového|tohoto|daného|takéhoto|tohto|takvog|tog|tega|takega|jest|były|brak|brakuje|nema|není|neni|nenašli|našli|nenašel|znaleziono|znaleźć|odnaleziono|odnaleźć|zarejestrowano|найдено|знайдено|обнаружено|зарегистрировано|существует|имеется|нашли|знает|знаем|найти|знайти|содержит|имеет|нашёл|нашел|знайшов|знає|мы|obsługuje|posiada|zna|znamy|eviduje|evidujeme|existuje|neexistuje|postoji|obstaja|există|găsit|для|dla|pro|pre|za|от|від|od|из|из-за|przez|bez|без`;

/** `käyttäjän varmenne`, `Gavėjo sertifikatas`, `Kullanıcı sertifikası`: the recipient comes first. */
const FINNISH = `käyttäjän|vastaanottajan|postilaatikon|tilin|osoitteen|asiakkaan|kayttajan`;
const NO_FINNISH_THING = `osoite\\p{L}{0,4}|tili\\p{L}{0,3}|postilaatik\\p{L}{1,4}|nim\\p{L}{1,3}|tunnu\\p{L}{1,4}|sähköposti\\p{L}{0,12}|verkkotunnu\\p{L}{1,4}|toimialue\\p{L}{0,4}|ei|ole|on|kautta|kanssa|mukaan`;
const BALTIC = `gavėjo|naudotojo|vartotojo|dėžutės|paskyros|saņēmēja|lietotāja|pastkastes`;
const NO_BALTIC_THING = `adres\\p{L}{1,4}|paskyr\\p{L}{1,3}|dėžut\\p{L}{1,4}|pašto|pasta|vard\\p{L}{1,3}|kont\\p{L}{1,3}|pastkast\\p{L}{1,3}|nėra|nav|nerast\\p{L}{1,3}|nerasta|neegzistuoja|neeksistē|netika`;
const TURKISH = `kullanıcı|kullanıcının|kullanici|alıcı|alıcının|alici|posta kutusu|hesap|hesabın|abone|müşteri`;
const NO_TURKISH_THING = `hesab[ıi]\\p{L}{0,3}|ad[ıi]\\p{L}{0,3}|adres[iı]\\p{L}{0,3}|kutusu\\p{L}{0,3}|e-?posta\\p{L}{0,4}|ismi|kimliğ[iı]|bulunamad[ıi]|bulunmad[ıi]|tan[ıi]nmad[ıi]|silindi|kapat[ıi]ld[ıi]|kald[ıi]r[ıi]ld[ıi]|ayr[ıi]ld[ıi]|kay[ıi]tl[ıi]|say[ıi]s[ıi]|değildi`;
const HUNGARIAN = `felhasználó|felhasznalo|címzett|cimzett|postafiók|postafiok|fiók|ügyfél`;
const NO_HUNGARIAN_THING = `fiókja|fiókját|postafiókja|postafiókját|címe|címét|neve|nevét|e-?mail|azonosítója|ismeretlen|nincs|nem|nincsen`;
const GERMANIC_GENITIVE = `brugerens|modtagerens|kontoens|adressens|brukerens|mottakerens|kontoets|användarens|mottagarens|kontots|brevlådans|postkassens|postlådans|benutzers|empfängers|postfachs|kontos|gebruikers|ontvangers`;
const NO_GERMANIC_THING = `\\p{L}{0,9}adress?e?n?|\\p{L}{0,9}konto\\p{L}{0,4}|navn|namn|name|e-?post\\p{L}{0,8}|e-?mail\\p{L}{0,8}|mail\\p{L}{0,8}|postkasse|postboks|brevlåda|postfach|mailbox|finns|findes|finnes|er|är|ikke|inte|kunne|kunde|ist|sind|wird|wurden?|war|waren|hat|haben|kann|nicht|existiert|konnte|werden|heeft|kan|bestaat|niet|is|zijn|werd|kon`;
/** `certificaat van de gebruiker`, and behind `für` only what is a thing for sure. */
const GERMANIC = `empfängers?|empfaengers?|benutzers?|nutzers?|anwenders?|postfachs|kontos|kunden|teilnehmers?|gebruikers?|ontvangers?|postvak|account|användarens?|användare|mottagarens?|mottagare|brugerens?|bruger|modtagerens?|modtager|brukerens?|bruker|mottakerens?|mottaker|kontot|kontoet`;
const GERMANIC_DETERMINER = `(?:(?:den|die|das|der|dem|diesen|dieses|diese|dieser|een|de|het|deze|dit|denna|det|ihren?|unseren?|onze|uw|vår|vores|denne|dette|den här|det här) )?`;
/** Behind `für`, where a head is a thing if an article makes it a noun and it is none of these. */
const GERMANIC_FOR = `${GERMANIC}|postfach|konto|adresse|postvak|postbus|mailbox|adres|brevlådan?|kontoen|adressen|postkassen`;
const NO_GERMANIC_FOR = `postbus|brievenbus|inbox|alias|eintr[aä]ge?|treffer|ergebnis\\p{L}{0,3}|ziel|person|mensch|niemand|nichts|nachricht\\p{L}{0,2}|mails?|zustell(?:ung|ziel|adresse|möglichkeit)\\p{L}{0,3}|aanduiding|vermelding|treff|resultat\\p{L}{0,2}|resultaat|uppgift|poster?|@addr`;
const GERMANIC_ARTICLE = `(?<=^[\\p{N} .#-]{0,16}|[.;:!?] |(?<!\\p{L})(?:der|die|das|den|dem|ein|eine|einen|kein|keine|keinen|unser|unsere|het|een|geen|onze|ingen|inget|intet|ingen|ikke|en|et|ett) )`;
const GERMANIC_THINGS = `zertifikate?|schlüssel|richtlinien?|regeln?|profile?|gruppen?|vorlagen?|filter|datenbank|speicher|rolle|vertrag|certificaat|sleutel|beleid|sjabloon|profiel|groep|certifikat|nyckel|nøgle|nøkkel|mall|skabelon|mal|grupp|gruppe`;
/** What a recipient is compounded with: `Empfängerzertifikat`. */
const COMPOUNDED = `empfänger|empfaenger|benutzer|anwender|nutzer|postfach|konto|konten|adress|mailbox|kunden|teilnehmer|mitglieder|gebruikers|ontvangers|adres(?=boek|lijst|groep|gids)|postvak|klanten|bruger|bruker|modtager|mottaker|mottagar|användar|anvandar|postkasse|brevlåde|postlåde|käyttäjä|vastaanottaja|kayttaja`;
const NO_COMPOUND_THING = `(?:s|e?n)?(?:\\p{L}{0,6}konto\\p{L}{0,3}|konten|\\p{L}{0,6}adress?e?n?(?:erna|en)?|name[ns]{0,2}|navnet?|namnet?|naam|nimi\\p{L}{0,2}|nimeä|kennung|kennungen|postfach\\p{L}{0,3}|fach|mailbox|account\\p{L}{0,2}|inhabers?|tunnu\\p{L}{1,4}|tili\\p{L}{0,3}|box)|ens|ets|ern|ers|ene|ena|are|ars|nes|nas|ien|aa[td]\\p{L}{0,8}|aten|atin|ernas|aren|arens|erens|erne|ernes|innen|ssa|lla|lle|lta|ista|illa|sta|tta|ksi|iden|ille|innen`;

/** Between Hangul, Han and kana no space shows where a noun ends: particles and the words for absence do. */
const KOREAN = `수신자|수신인|사용자|계정|메일함|받는 사람`;
const NO_KOREAN_THING = `(?:메일 ?|이메일 ?|전자 ?메일 ?)?주소|계정|메일함|메일|이름|아이디|사서함|도메인|정보`;
const JAPANESE = `ユーザー?|受信者|宛先|アドレス|メールボックス|アカウント|受取人|利用者`;
const NO_JAPANESE_THING = `(?:電子)?(?:メール)?アドレス|メールボックス|アカウント|ユーザー?|宛先|受信者|名|名前|氏名|ID|id|ドメイン(?:名)?|ホスト(?:名)?|メール|情報|方|皆様|登録`;
const CHINESE = `用户|用戶|收件人|收件者|邮箱|郵箱|信箱|帐户|账户|帳戶|帐号|账号`;
const NO_CHINESE_THING = `(?:邮件|郵件|电子邮件|電子郵件|电子|電子)?(?:地址|邮箱|郵箱|信箱)(?:地址|帐号|账号|帳號|账户|帳戶|名)?|名|名称|姓名|帐号|账号|帳號|账户|帐户|帳戶|用户|域名|域|网域|網域|[在已并並尚暂暫均都也还還仍未不无無没沒可似或是被于於从從对對已经].{0,8}`;
const CHINESE_ABSENT = `不存在|不正确|不正確|无效|無效|未找到|没有找到|沒有找到|找不到|未知|错误|錯誤|有误|有誤`;
const SEMITIC = `المستخدم|المستلم|المتلقي|الحساب|الصندوق|הנמען|המשתמש|התיבה`;
const NO_SEMITIC_THING = `\\p{L}{1,2}|هذا|هذه|على|أن|إن|اسم|عنوان|حساب|صندوق|بريد|يوجد|توجد|ليس|إلى|כתובת|תיבת|חשבון|שם|אין|את|כי|הכתובת|קיים|לא`;
const THAI = `ผู้รับ|ผู้ใช้|บัญชี|กล่องจดหมาย|ที่อยู่`;
const INDONESIAN = `pengguna|penerima|akun|kotak surat`;
const NO_INDONESIAN_THING = `nama|alamat|akun|surat|email|e-mail|ada|tidak|bahwa|untuk|oleh|maaf|karena|dari|ke|dengan|adalah|bukan|belum|itu|ini|jika|kotak|domain`;

/** Files and states of a recipient: `vacation script not found for user`, `invalid state of mailbox`, `user joe: invalid sieve script`. */
const FILES = `(?:(?!(?:${RECIPIENTS}|of|or|and|is|was)\\b)[.\\p{L}-]{2,14} )?(?:scripts?|files?|certificates?|signatures?|keys?|states?|status|spools?|licen[cs]es?|templates?)(?! ?[:=])`;

const PHRASES: readonly Phrase[] = [
  phrase(
    `${START}(?:invalid|unknown|illegal|bad|no valid|no such) (?<head>${FILES})${END}(?! (?:${RECIPIENTS}|or|of|for))`,
    '(?!)',
  ),
  phrase(
    `${START}(?<head>${FILES})(?= (?:is |was |were )?(?:not found|could not be found|missing|invalid|not valid|does not exist) (?:for|of|in) (?:the |this )?(?:${RECIPIENTS})${END})`,
    '(?!)',
  ),
  phrase(
    `${START}(?<head>${FILES}|messages?)(?: (?:of|for) (?:(?:the|this|that) )?)(?:${RECIPIENTS})(?: @addr)?${END}`,
    '(?!)',
  ),
  phrase(`${START}(?<head>archive) (?:mailbox|account)${END}`, '(?!)'),
  phrase(`${START}(?:${RECIPIENTS})(?:'s?)?${BETWEEN}(?<head>${THINGS})${END}`, '(?!)'),
  phrase(
    `${START}(?:recipient|user|mailbox|account|customer|member|employee|receiver|subscriber|addressee)(?: (?!@)["']?[\\p{L}\\p{N}._+-]{2,40}["']?)?(?:'s|s')(?! mail file\\b)(?: (?!(?:not|no|is|was|are|were|has|could|can|does|doesn't|cannot)\\b)[.\\p{L}-]{2,20}){0,2} (?<head>(?!(?:${PREDICATES})\\b)[.\\p{L}-]{3,20})${END}(?= (?:not|no|is|was|are|were|has|could|can|does|doesn't|cannot|unknown|invalid|missing|of|in|on|by)\\b|$|[.,;])`,
    OWNED,
  ),
  phrase(
    `${START}(?!(?:it|that|there|here|what|who|he|she|let)')(?:@addr|[\\p{L}\\p{N}._+-]{2,40})'s (?!mail file\\b)(?:(?!(?:${PREDICATES})\\b)[\\p{L}-]{2,20} ){0,2}(?<head>(?!(?:${PREDICATES})\\b)[\\p{L}-]{3,20})${END}(?= (?:${PREDICATES})\\b)`,
    OWNED,
  ),
  phrase(
    `${START}(?:${RECIPIENTS}) (?:(?!(?:${NO_NOUN})\\b)[\\p{L}-]{2,16} ){1,2}(?<head>${THINGS}|sites?|hosts?|files?)${END}(?= (?:${PREDICATES})\\b| ?$)`,
    '(?!)',
  ),
  phrase(
    `${START}(?:${RECIPIENTS}) (?:has|have|had|with|without) (?:no|not an?|neither) (?:[\\p{L}-]{2,16} ){0,2}(?<head>${THINGS})${END}`,
    '(?!)',
  ),
  phrase(
    `${START}(?:recipient|user|customer|member)(?: [\\p{L}\\p{N}._+-]{2,40})?'s (?!(?:e-?mail|mail|domain|destination) )[\\p{L}-]{2,20} (?<head>hosts?|servers?)${END}`,
    '(?!)',
  ),
  phrase(`${START}(?:mailbox|inbox|mail box) (?<head>["'<]?[\\p{L}\\p{N}._+-]{1,40}/[^\\s@]{1,60})`, '(?!)'),
  phrase(`${START}(?<head>(?:${PURPOSES}) address(?:es)?)${OF}(?:${RECIPIENTS})${END}`, '(?!)'),
  phrase(
    `${START}(?:the|an?|no|any|this|that|our) (?:(?!(?:${RECIPIENTS}|${NO_NOUN})\\b)[\\p{L}-]{2,20} ){0,2}(?<head>(?!(?:${NO_NOUN})\\b)[\\p{L}-]{3,24}) (?:that|which|where|whose)(?! (?:you|your|is|was|are)\\b) [^.;:!?@]{2,60}?(?= (?:${PREDICATES})\\b)`,
    `${RECIPIENTS}|account|names?|local-?part|part|domains?|persons?|people|one|entry|contacts?|individual|someone|party|somebody|nobody|anyone|id|box|drop|e-?mails?`,
  ),
  phrase(
    `(?<=\\p{L}: )(?:(?:the|an?|no|our) )?(?:(?!(?:${RECIPIENTS}|${NO_NOUN})\\b)[\\p{L}-]{2,16} ){0,2}(?<head>${THINGS})${END}(?= (?:${PREDICATES})\\b)`,
    '(?!)',
  ),
  phrase(
    `${START}(?<head>${THINGS}|@thing)${OF}(?:(?:${RECIPIENTS})(?: ["'<]?@addr["'>]?)?(?:'s (?:${RECIPIENTS}|account))?|@addr)${END}`,
    '(?!)',
  ),
  phrase(
    `${START}(?<head>${LATIN}{3,24})(?: (?:de messagerie|de correo|de posta|de correio))? ${ROMANCE_OF}(?:${ROMANCE})(?: ["'<]?@addr["'>]?)?${END}`,
    NO_ROMANCE_THING,
    ROMANCE_PLACE,
  ),
  phrase(`(?<head>@thing) ${ROMANCE_OF}(?:${ROMANCE})${END}`, '(?!)'),
  phrase(`${START}(?<head>[\\p{L}'-]{3,24}) ${SLAVIC_DETERMINER}(?:${SLAVIC_GENITIVE})${END}`, NO_SLAVIC_THING),
  phrase(`(?<head>@thing) ${SLAVIC_DETERMINER}(?:${SLAVIC_GENITIVE})${END}`, '(?!)'),
  phrase(
    `${START}(?<head>[\\p{L}'-]{3,24}) (?:для|dla|pro|на) ${SLAVIC_DETERMINER}(?:${SLAVIC_GENITIVE}|адреса|адреси|adresu|adresy|потребителя)${END}`,
    `${NO_SLAVIC_THING}|\\p{L}{2,20}(?:но|на|ны|ть|ти|ет|ит|no|na|ne|ny|ć)`,
  ),
  phrase(
    `${START}(?<head>\\p{Script=Greek}{3,24}) (?:του|της|των|για τον) (?:παραλήπτη|χρήστη|λογαριασμού|θυρίδας|παραληπτών|χρηστών)${END}`,
    'διεύθυνση|όνομα|λογαριασμός|θυρίδα|λογαριασμό|γραμματοκιβώτιο',
  ),
  phrase(`${START}(?:${FINNISH}) (?<head>\\p{L}{3,24})${END}`, NO_FINNISH_THING),
  phrase(`${START}(?:${BALTIC}) (?<head>\\p{L}{3,24})${END}`, NO_BALTIC_THING),
  phrase(
    `${START}(?:${TURKISH}) (?<head>\\p{L}{2,24}[ıiuü])(?= (?:bulunama|bulunmu|bulunmad|mevcut|geçersiz|gecersiz|tanınm|taninm|bilinm|yok|hatalı|hatali|var olma|artık|artik))`,
    NO_TURKISH_THING,
  ),
  phrase(
    `${START}(?:${HUNGARIAN}) (?<head>\\p{L}{2,24}[ae]t?)(?= (?:nem|nincs|érvénytelen|ervenytelen|ismeretlen|hibás|hibas|hiányzik))`,
    NO_HUNGARIAN_THING,
  ),
  phrase(`${START}(?:${GERMANIC_GENITIVE}) (?<head>[\\p{L}-]{3,24})${END}`, NO_GERMANIC_THING),
  phrase(
    `${START}(?<head>${LATIN}{3,30}) (?:(?:des|der|von|vom|van|av|af) ${GERMANIC_DETERMINER}|(?:dieses|jenes|eines|unseres|ihres) )(?:${GERMANIC})${END}`,
    `${NO_GERMANIC_THING}|${GERMANIC}|adressat|empfänger|benutzer|kein|keine|geen|gefunden|gevonden|bekannt|bekend|inbox|postvak|mailbox|naam|eigenaar|teil|deel|del`,
  ),
  phrase(
    `${GERMANIC_ARTICLE}(?<head>${LATIN}{3,30}) (?:für|voor|för|for|til|till) ${GERMANIC_DETERMINER}(?:${GERMANIC_FOR})${END}`,
    `${NO_GERMANIC_THING}|${GERMANIC}|${NO_GERMANIC_FOR}|adressat|empfänger|benutzer|kein|keine|geen|gefunden|gevonden|bekannt|bekend|naam|eigenaar`,
  ),
  phrase(
    `${START}(?<head>${GERMANIC_THINGS}) (?:für|zu|voor|för|til|till) ${GERMANIC_DETERMINER}(?:${GERMANIC})${END}`,
    '(?!)',
  ),
  phrase(`${START}(?:${COMPOUNDED})-?(?<head>\\p{L}{3,30})${END}`, NO_COMPOUND_THING),
  phrase(
    `(?:${KOREAN})의? ?(?<head>(?:\\p{Script=Hangul}{2,8} ){0,2}?\\p{Script=Hangul}{2,8}?)(?=[을를이가은는] |[을를이가은는]$)`,
    NO_KOREAN_THING,
  ),
  phrase(
    `(?:${JAPANESE})(?:の|(?=[\\p{Script=Han}\\p{Script=Katakana}]))(?<head>[\\p{Script=Han}\\p{Script=Katakana}ーA-Za-z]{1,14}?(?:の[\\p{Script=Han}\\p{Script=Katakana}ー]{1,10}?)?)(?=[がはもを])`,
    `(?:.{1,14}の)?(?:${NO_JAPANESE_THING})`,
  ),
  phrase(
    `(?:${CHINESE}|地址)的?(?<head>数据库|資料庫|服务器|伺服器|列表|清单|证书|憑證|策略|模板|组|簿|规则|后端|配置|存储)(?![中里内裡內上])`,
    '(?!)',
  ),
  phrase(
    `(?:${CHINESE})(?<head>的[\\p{Script=Han}]{1,8}?|[\\p{Script=Han}]{1,8}?)(?=(?:${CHINESE_ABSENT}))`,
    `的?(?:${NO_CHINESE_THING})`,
  ),
  phrase(`(?:${CHINESE})的?(?<head>@thing)`, '(?!)'),
  phrase(`${START}(?<head>\\p{L}{3,20}) (?:של )?(?:هذا |هذه |ذلك )?(?:${SEMITIC})${END}`, NO_SEMITIC_THING),
  phrase(
    `(?<=ไม่พบ|ไม่มี|ไม่รู้จัก|^|[\\s:])(?<head>(?!ไม่)[\\p{Script=Thai}]{2,30}?)ของ(?:${THAI})`,
    `(?:${THAI}|ชื่อ|อีเมล|กล่อง|ที่อยู่อีเมล|จดหมาย|ไม่พบ)+`,
  ),
  phrase(`${START}(?<head>[\\p{L}]{3,24}) (?:${INDONESIAN})${END}`, NO_INDONESIAN_THING),
  phrase(
    `${START}(?<head>[\\p{L}]{2,12}(?: \\p{L}{2,12})?) của (?:người nhận|người dùng|tài khoản|hộp thư)${END}`,
    '(?:.{0,12} )?(?:địa chỉ|chỉ|chỉ email|email|tên|hộp thư|thư|tài khoản)',
  ),
];

/** A trouble of which a server knows nothing, in many languages: `unbekannter Fehler beim Empfänger`. */
const UNKNOWN_TROUBLE = new RegExp(
  [
    String.raw`(?:unknown|unspecified|undetermined|unidentified) (?:(?:internal|system|server|network|smtp|mail|delivery|fatal|local|remote|dns) )?(?:errors?|failures?|problems?|troubles?|difficult(?:y|ies)|incidents?|malfunctions?|reasons?|causes?|issues?|exceptions?|faults?|status|state|condition|result|response)(?! ?[:=])`,
    String.raw`(?:error|failure|reason|cause|status|state|fehler|ursache|grund|oorzaak|reden|fout|przyczyna|powód|błąd|příčina|príčina|důvod|dôvod|chyba|orsaken?|årsag(?:en)?|årsak(?:en)?|причина|ошибка|помилка|syy|neden|hata) ?:? (?:is |was |ist |jest |je |är |er |on )?(?:unknown|unbekannt|onbekend|nieznan[ay]|neznám[áýy]|okänd|ukendt|ukjent|неизвестна|невідома|tuntematon|bilinmiyor)(?= ?$|[.,;!)])`,
    String.raw`(?:unbekannte[rnms]?|ungeklärte[rnms]?) (?:\p{L}{0,14}fehler|ursachen?|probleme?|gr[uü]nde?n?|störung|status|zustand|ausnahme)|onbekende? (?:fout|storing|oorzaak|probleem|reden|status)`,
    String.raw`(?:erreur|problème|panne|incident|anomalie|dysfonctionnement|cause|raison|état|échec|exception) (?:est )?(?:inconnue?|indéterminée?)|(?:error|fallo|problema|causa|motivo|razón|estado) (?:desconocid|indeterminad|no identificad)[oa]|(?:errore|problema|guasto|causa|motivo|ragione|stato) (?:sconosciut|indeterminat|non identificat)[oa]|(?:erro|falha|problema|causa|motivo|razão|estado) (?:desconhecid|indeterminad|não identificad)[oa]|(?:eroare|problemă|cauză|motiv|stare) (?:necunoscut|nedeterminat)ă?`,
    String.raw`(?:okänt|okänd|ukendt|ukjent) (?:fel|fejl|feil|problem|orsak|årsag|årsak|status)|tuntema\p{L}{1,5} (?:virhe|ongelma|syy|vika)\p{L}{0,4}|nieznan\p{L}{1,3} (?:błęd|błąd|blad|problem|przyczyn|powod|powód|stan)\p{L}{0,3}|neznám\p{L}{1,3} (?:chyb|problém|příčin|príčin|důvod|dôvod|stav)\p{L}{0,3}|ismeretlen (?:hib|ok|problém|állapot)\p{L}{0,4}`,
    String.raw`неизвестн\p{L}{2,3} (?:ошибк|сбо|причин|проблем|состояни|статус)\p{L}{0,3}|невідом\p{L}{1,3} (?:помилк|збі|причин|проблем|стан)\p{L}{0,3}|(?:неизвестна|непозната|непознат\p{L}) (?:греш|проблем|причин)\p{L}{1,3}|nepoznat\p{L} (?:gre[sš]k|pogre[sš]k|problem|uzrok)\p{L}{0,2}|neznan\p{L} napak\p{L}|bilinmeyen (?:bir )?(?:hata|sorun|neden|durum)\p{L}{0,3}|άγνωστ\p{L}{1,2} (?:σφάλμα|πρόβλημα|αιτία|λόγ)\p{L}{0,3}|nežinom\p{L}{1,2} klaid\p{L}|nezinām\p{L} kļūd\p{L}|tundmatu viga`,
    `שגיאה (?:לא ידועה|לא מזוהה)|תקלה לא ידועה|خطأ (?:غير معروف|مجهول)|خطای (?:ناشناخته|نامشخص)|अज्ञात (?:त्रुटि|समस्या)|ข้อผิดพลาดที่ไม่(?:รู้จัก|ทราบ)|lỗi không (?:xác định|rõ)|kesalahan (?:yang )?tidak (?:dikenal|diketahui)`,
    '(?:未知|不明)的?(?:错误|錯誤|原因|问题|問題|故障|异常|異常|状态|狀態)|原因不明|(?:不明|未知)[なの]?(?:エラー|問題|障害|原因|理由)|알 수 없는 (?:오류|에러|문제|이유|원인|상태)',
  ]
    .map((words) => (/^\(\?:\p{Script=Han}/u.test(words) ? words : `(?<!\\p{L})(?:${words})`))
    .join('|'),
  'gu',
);

const MAX_PLACE_LENGTH = 30;

/**
 * Returns a text (lower case, on one line, with `@addr` in place of addresses) with `@thing` in place of its noun phrases about a thing of
 * a recipient: `user certificate not found` becomes `@thing not found`. Places where a recipient is missing stay as they are.
 */
export function reduceToHeads(text: string): string {
  let reduced = text.replace(UNKNOWN_TROUBLE, ' ');
  for (const { pattern, noThing, place } of PHRASES)
    reduced = reduced.replace(pattern, (...found) => {
      const [whole] = found as [string];
      const [at, all, groups] = found.slice(-3) as [number, string, { head: string }];
      const isSomewhere = place.test(all.slice(Math.max(0, at - MAX_PLACE_LENGTH), at));
      return isSomewhere || noThing.test(groups.head) ? whole : '@thing';
    });
  return reduced;
}
