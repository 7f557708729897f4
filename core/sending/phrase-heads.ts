/**
 * Noun phrases that name a recipient and are about a thing: their head is the thing, the recipient is a modifier of it. `Mailbox backend` and
 * `policy for recipient joe` say nothing of a mailbox or a recipient when they are not found; `mailbox for joe` does.
 */
interface PhraseWords {
  /** nouns for a recipient, parts of regular expressions */
  recipient: string;
  /** nouns for a thing, parts of regular expressions */
  thing: string;
  /** what is between the head and a recipient behind it: `policy for the`; null when nothing may be there */
  link: string | null;
  /** what is between a recipient and the head behind it; null where no modifier precedes its head */
  joint: string | null;
  /** right before a phrase that is the place where a recipient was looked for: `in the user database` */
  place: string;
}

const LANGUAGES: readonly PhraseWords[] = [
  {
    recipient: `(?:recipient|user|mailbox|mail box|inbox|account|address|alias|destination|customer|subscriber|person|member|employee|receiver|addressee)(?:e?s)?(?:'s?)?`,
    thing: `(?:servers?|back-?ends?|stores?|storages?|databases?|certificates?|lists?|books?|polic(?:y|ies)|rules?|scripts?|filters?|agents?|services?|plans?|tables?|maps?|drivers?|groups?|managers?|types?|formats?|famil(?:y|ies)|class(?:es)?|quotas?|roots?|profiles?|templates?|images?|parts?(?! of)|footers?|headers?|licen[cs]es?|keys?|tokens?|passwords?|signatures?|permissions?|consents?|limits?|settings?|preferences?|options?|roles?|realms?|plug-?ins?|modules?|handlers?|quer(?:y|ies)|schemas?|indexe?s?|volumes?|partitions?|shards?|nodes?|clusters?|pools?|queues?|ports?|sessions?|connectors?|providers?|contracts?|subscriptions?|invoices?|tickets?|timezones?|languages?|charsets?|encodings?|attachments?|documents?|forms?|pages?|photos?|pictures?|rewriting|mapping)`,
    link: `(?: plan| root| set| unit)? (?:of|for|by|from|to|on|with|behind|belonging to|assigned to) (?:(?:the|this|that|these|your|our|its|each|any|all|a|an|said|given) ){0,2}`,
    joint: `[ -](?:(?:mail|e-?mail|domain|access|login|security|delivery|lookup|transport|data|plan|directory|database|server|profile|quota|filter|address|group|agent) )?`,
    place:
      '(?:in|on|from|by|at|of|within|with|against|to)(?: (?:the|our|this|its|your|any|a|local|virtual|relay|valid)){0,3}',
  },
  {
    recipient: `(?:benutzer|nutzer|anwender|empfänger|postfach|postfächer|konto|konten|adress(?:e|en|at|aten)?|mailbox|account|user|kunden?|teilnehmer|mitarbeiter|gebruiker|ontvanger|adres|postvak|brugere?|bruker|använder|användar|mottagare?|mottaker|modtager|konto|postlåd|brevlåd)(?:e?[sn])?`,
    thing: `(?:datenbank(?:en)?|server|listen?|zertifikate?|speicher|profile?|gruppen?|richtlinien?|vorlagen?|agent|dienst|typ|format|buch|filter|regeln?|kontingent|schlüssel|skript|tabelle|backend|rolle|rechte?|vertrag|datei|database|databasen|certificaat|lijst|boek|beleid|regel|sjabloon|sleutel|groep|rol|opslag|profiel|certifikat(?:et)?|lista(?:n)?|listen|grupp(?:en)?|gruppe(?:n)?|regeln|mall(?:en)?|profilen?|server(?:n|en)|lager|nyckeln?)`,
    link: String.raw` (?:für|des|der|von|vom|zu|zum|zur|voor|van|til|för|till|av|af) (?:(?:den|die|das|der|dem|diesen|dieses|diese|dieser|een|de|het|deze|dit|denna|den|det|ihren?) )?`,
    joint: '-?',
    place:
      '(?:in|im|auf|aus|bei|op|i|på|hos|uit|von|vom|av|af|från|fra)(?: (?:der|dem|den|unserer|unserem|unsere|de|het|onze|vår|vores))?',
  },
  {
    recipient: `(?:destinatair[es]{1,2}|utilisateurs?|adresses?|boîtes?|comptes?|abonnés?|usuarios?|destinatari[oi]s?|cuentas?|buz[oó]n(?:es)?|direcci[oó]n(?:es)?|utent[ei]|casell[ae]|indirizz[oi]|account|usuários?|contas?|caixas?|endereços?)`,
    thing: `(?:base de (?:données|donnees|datos|dados)|database|banca dati|banco de dados|modèles?|certificats?|politiques?|règles?|listes?|serveurs?|groupes?|profils?|clés?|scripts?|types?|formats?|carnets?|plantillas?|almac[eé]n|certificados?|pol[ií]ticas?|reglas?|listas?|servidor(?:es)?|grupos?|perfil(?:es)?|claves?|tipos?|libreta|modell[oi]|certificat[oi]|criteri[oi]?|regol[ae]|elenc[ohi]{1,2}|grupp[oi]|profil[oi]|chiav[ei]|tip[oi]|rubrica|archivio|modelos?|regras?|chaves?|armazenamento)`,
    link: String.raw`(?: de (?:messagerie|correo|posta|correio))? (?:d['’]|(?:de|des|du|del|della|dello|dell['’]|dei|degli|delle|do|da|dos|das|di|pour|para|per) ?)(?:l['’]|(?:le|la|les|el|los|las|il|lo|i|gli|o|a|os|as|cet|cette|ce|este|esta|questo|questa|un|une) )?`,
    joint: null,
    place: String.raw`(?:dans|en|sur|in|nel|nella|na|no|em|de|du|del|à|su|sul|sulla)(?: (?:la|le|les|el|los|notre|nuestra|nostra|nossa)| l['’])?`,
  },
  {
    recipient: `(?:użytkownik\\p{L}{0,3}|odbiorc\\p{L}{1,3}|adresat\\p{L}{0,3}|skrzyn\\p{L}{1,3}|kont[ao]?|adres\\p{L}{0,3}|пользовател\\p{L}{1,3}|получател\\p{L}{1,3}|адресат\\p{L}{0,3}|ящик\\p{L}{0,3}|користувач\\p{L}{0,3}|uživatel\\p{L}{0,2}|příjemc\\p{L}{1,2})`,
    thing: `(?:baza danych|baza|certyfikat|polityka|reguła|szablon|lista|grupa|profil|klucz|magazyn|база данных|база|сертификат|политика|правило|шаблон|список|группа|профиль|хранилище|база даних|databáze|certifikát|pravidlo|šablona|seznam|skupina)`,
    link: ' (?:(?:dla|для|pro|od|tego|этого|tohoto) ){0,2}',
    joint: null,
    place: '(?:w|na|z|в|на|из|v|ve|ze)',
  },
  {
    recipient: '(?:ユーザー?|受信者|宛先|アドレス|メールボックス|アカウント|受取人)',
    thing:
      '(?:データベース|サーバー?|リスト|証明書|ポリシー|テンプレート|グループ|帳|ルール|バックエンド|プロファイル|ストア)(?=[がは])',
    link: null,
    joint: 'の?',
    place: '(?!)',
  },
  {
    recipient: '(?:用户|用戶|收件人|邮箱|郵箱|信箱|地址|帐户|账户|帳戶|帐号|账号)',
    thing: '(?:数据库|資料庫|服务器|伺服器|列表|清单|证书|憑證|策略|模板|组|簿|规则|后端|配置|存储)(?![中里内裡內上])',
    link: null,
    joint: '的?',
    place: '[在于於]',
  },
];

const MATCHERS = LANGUAGES.map(({ recipient, thing, link, joint, place }) => {
  const isSpaced = /[a-z]/.test(recipient);
  const [start, end] = isSpaced ? [String.raw`(?<![\p{L}\p{N}@_-])`, String.raw`(?![\p{L}\p{N}_])`] : ['', ''];
  const whole = (source: string) => new RegExp(`${start}(?:${source})${end}`, 'gu');
  return {
    before: joint === null ? null : whole(`${recipient}${joint}(?<head>${thing})`),
    behind: link === null ? null : whole(`(?<head>${thing})${link}(?:${recipient}(?: ["'<]?@addr["'>]?)?|@addr)`),
    place: isSpaced ? new RegExp(`(?<!\\p{L})${place} ?$`, 'u') : new RegExp(`${place}$`, 'u'),
  };
});

/** A server of a recipient is not the recipient's host. */
function toHead(head: string): string {
  return /^(?:server|serveur|servidor|サーバ|服务器|伺服器)/.test(head) ? '@thing' : head;
}

const MAX_PLACE_LENGTH = 30;

/**
 * Returns a text (lower case, on one line, with `@addr` in place of addresses) whose noun phrases about a thing of a recipient are only the
 * thing: `user certificate not found` becomes `certificate not found`. Places where a recipient is missing stay as they are.
 */
export function reduceToHeads(text: string): string {
  let reduced = text;
  for (const { before, behind, place } of MATCHERS)
    for (const phrase of [before, behind])
      if (phrase !== null)
        reduced = reduced.replace(phrase, (...found) => {
          const [whole, , at, all, groups] = found as [string, string, number, string, { head: string }];
          return place.test(all.slice(Math.max(0, at - MAX_PLACE_LENGTH), at)) ? whole : toHead(groups.head);
        });
  return reduced;
}
