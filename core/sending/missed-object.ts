import { spellings } from './word-patterns.ts';

/**
 * Closed lists of one language for sentences that begin with the recipient, who is the object: `Einen solchen Nutzer kennt der Server nicht`,
 * `Такого пользователя мы не нашли`. A sentence of nothing else, in any order, says that the recipient is unknown; one about the sender, a key, a
 * time or a reason has another word. Words have the forms of an object where the language has them: what a recipient does not know says nothing.
 */
interface ObjectWords {
  /** exactly one, or an address in its place */
  recipient: string;
  /** mailboxes and accounts in the form of a subject, too: not beside a host, which could be what they do not find */
  mailbox: string;
  /** persons, likewise: only behind `object`, or beside `subject` */
  person: string;
  /** words before a recipient that make it the object; elsewhere they make something else the object */
  object: string;
  /** who does not know the recipient: a host beside it is known, or is where one looks */
  subject: string;
  /** who does not know the recipient, or is not known, where nothing shows which; not behind `place` */
  host: string;
  place: string;
  /** to know, to find, to be there */
  missed: string;
  /** the same without a name behind the recipient: `Das Konto gesperrt haben wir nicht` is no name */
  has: string;
  not: string;
  /** where the recipient is not, which one it is, and what joins the words */
  rest: string;
}

const LANGUAGES: readonly ObjectWords[] = [
  {
    recipient: 'adresse mailadresse e-mail-adresse emailadresse anschrift empfängeradresse zieladresse',
    mailbox: 'postfach mailbox konto mailkonto account benutzerkonto',
    person: 'empfänger nutzer benutzer adressaten teilnehmer kunden mitarbeiter',
    object: 'den diesen einen solchen',
    subject: 'wir',
    host: 'server mailserver system mailsystem host rechner gateway verzeichnis nutzerverzeichnis datenbank domain uns sie',
    place: 'bei auf in im mit unter zu zur',
    missed:
      'kennt kennen kannte kannten findet finden fand fanden gefunden auffinden führt führen geführt gibt existiert existieren vorhanden bekannt registriert',
    has: 'hat haben',
    not: 'nicht',
    rest: 'solche angegebenen genannten gewünschten solch ein eine einem die diese das dieses solches der dem dieser diesem unser unsere unserem unserer er es ist sind kann können konnte konnten wurde worden hier leider aber jedoch allerdings nun mehr jedenfalls namens namen angegebene genannte gewünschte so auch dort',
  },
  {
    recipient: 'adres e-mailadres mailadres gebruikersnaam',
    mailbox: 'postvak mailbox account',
    person: 'ontvanger geadresseerde gebruiker klant medewerker',
    object: "zo'n",
    subject: 'wij we',
    host: 'server mailserver systeem mailsysteem host domein adresboek ons',
    place: 'bij op in met onder',
    missed:
      'kent kennen kende kenden vindt vinden vond vonden gevonden terugvinden teruggevonden bestaat bestaan bekend geregistreerd',
    has: 'heeft hebben',
    not: 'niet',
    rest: 'een dergelijke dergelijk zulk zulke deze dit die dat de het onze kon konden kan kunnen is er werd hier helaas echter maar wel meer naam opgegeven genoemde vermelde ook daar',
  },
  {
    recipient: 'użytkownika odbiorcy odbiorcę adresata adresu skrzynki skrzynkę konta abonenta pracownika',
    mailbox: 'adres konto mailbox',
    person: '',
    object: '',
    subject: 'my',
    host: 'serwer system host',
    place: '',
    missed:
      'zna znamy znał znaleźć znaleziono znalazł znaleźliśmy odnaleźć odnaleziono odnalazł rozpoznaje rozpoznał rozpoznano istnieje',
    has: 'ma mamy',
    not: 'nie',
    rest: 'takiego taka takiej taką tego tej tę ten podanego podanej podanych wskazanego wskazanej o z na w u nas tym naszym tutaj tu serwerze systemie nasz poczty pocztowy pocztowym nazwie imieniu adresie udało się można niestety jednak już też tam',
  },
  {
    recipient: 'пользователя получателя адресата абонента адреса ящика аккаунта сотрудника',
    mailbox: 'адрес ящик аккаунт',
    person: '',
    object: '',
    subject: 'мы',
    host: 'сервер система хост почта',
    place: '',
    missed:
      'знает знаем знал нашел нашёл нашла нашли найти найден найдено обнаружил обнаружила обнаружили обнаружен обнаружено распознал распознала распознали существует значится нет неизвестен',
    has: '',
    not: 'не нет неизвестен',
    rest: 'такого такой такую эту указанную этого этот указанного указанный данного данный почтовый почтового с со на в у себя нас наш наша нашему нашем нашей этом здесь тут сервере серверу системе почтовая почты именем адресом однако больше уже удалось там',
  },
];

/** A word, or a mark of the text for an address or a host. */
const WORD = /[@\p{L}](?:[\p{L}\p{N}]|[-'’.](?=\p{L}))*/gu;
const MAX_WORDS = 16;
/** What says nothing between two commas. */
const ASIDE = /, (?:к сожалению|leider|helaas|niestety|jedoch|однако|jednak|echter),/;
/** That a server was reached, before a comma. */
const REACHED = /^[^,]{0,60}(?:wurde erreicht|is bereikt|został osiągnięty|доступен), /;
/** Two words for one recipient. A `запись` alone is one of DNS. */
const ACCOUNT = /уч[её]тн\p{L}{2} запис\p{L}/u;

const makeSet = (words: string) => new Set(words.split(' ').flatMap((word) => spellings(word)));
const WORDS = LANGUAGES.map(({ recipient, mailbox, person, object, subject, host, place, missed, has, not, rest }) => ({
  recipients: makeSet(`${recipient} ${mailbox} ${person}`),
  persons: makeSet(person),
  actors: makeSet(`${mailbox} ${person}`),
  objects: makeSet(object),
  subjects: makeSet(subject),
  hosts: makeSet(`${host} @host`),
  places: makeSet(place),
  missed: makeSet(missed),
  has: makeSet(has),
  not: makeSet(not),
  all: makeSet([object, subject, host, place, missed, has, not, rest, '@addr @host'].join(' ')),
}));
/** Words between what makes a recipient the object and the recipient, and `Namen` behind it. */
const BETWEEN = /^(?:solchen|angegebenen|genannten|gewünschten|namen)$/;
/** Hosts of one gender, in the form of a subject only. */
const HOST_AS_SUBJECT = /(?<!\p{L})(?:der|dieser|unser) (?:server|mailserver|host|rechner)(?!\p{L})/u;

/** Who knows or finds no host, and a host as an object: `De klant kan de mailserver niet vinden`, `Einen Server mit dieser Adresse gibt es nicht`. */
const MISSED_HOST =
  /(?<!\p{L})(?:(?<!zo'n )(?:gebruiker|klant|medewerker|ontvanger|geadresseerde|mailbox|postvak|account)(?: @addr| \p{L}{1,20})? (?:kan|kon|kent|kende|vindt|vond) (?:\p{L}{2,4} )?(?:mail)?(?:server|systeem|host|domein)|de (?:mail)?server kennen|(?:we|wij) (?:hebben|kunnen|konden|kennen|vinden|vonden) (?:de|het) (?:mail)?(?:server|systeem|host)|(?:den|einen|diesen|unseren) (?:mail)?(?:server|host|rechner)(?: [@\p{L}]{1,20}){0,6} (?:kenn|find|fand|gefunden|gibt|konn|kann)\p{L}{0,3}|(?:zna|znalazł|znajduje|rozpoznaje|rozpoznał) (?:\p{L}{1,12} )?(?:serwera|hosta|systemu))(?!\p{L})/u;

/** Returns whether a clause says that a host is not known or found, which says nothing of the recipient. */
export function isMissedHost(clause: string): boolean {
  return MISSED_HOST.test(clause);
}

/**
 * Returns whether a clause (as in `unknownPartIn`) is a sentence around a recipient as its object, who is not known, found or there: not what a
 * person or a mailbox does not know or find, `De gebruiker kent de server niet`.
 */
export function isMissedObject(clause: string): boolean {
  const text = clause.replace(ASIDE, '').replace(REACHED, '').replace(ACCOUNT, 'аккаунта');
  const tokens = (text.match(WORD) ?? []).map((word) => word.replaceAll('’', "'"));
  if (tokens.length < 3 || tokens.length > MAX_WORDS) return false;
  return WORDS.some((words) => {
    const { recipients, persons, actors, objects, subjects, hosts, places, missed, has, not, all } = words;
    const found = tokens.flatMap((word, at) => (recipients.has(word) ? [at] : []));
    const [place = tokens.indexOf('@addr')] = found;
    if (found.length > 1 || place === -1) return false;
    const recipient = tokens[place] ?? '';
    const isMissing = (word: string) => missed.has(word);
    const isName = (word: string, at: number) =>
      at === place + 1 && /^[a-z]{2,20}$/.test(word) && tokens.some(isMissing);
    if (!tokens.every((word, at) => at === place || all.has(word) || isName(word, at))) return false;
    if (!tokens.some((word) => not.has(word)) || !tokens.some((word) => isMissing(word) || has.has(word))) return false;
    const ofObject = tokens.flatMap((word, at) => (objects.has(word) ? [at] : []));
    const goesWith = (at: number) => {
      let next = at + 1;
      while (objects.has(tokens[next] ?? '') || BETWEEN.test(tokens[next] ?? '')) next++;
      return next;
    };
    const isMarked = ofObject.some((at) => goesWith(at) === place);
    if (!ofObject.every((at) => goesWith(at) === place || tokens[goesWith(at) - 1] === 'namen')) return false;
    const hasSubject = tokens.some((word) => subjects.has(word));
    const hasHost = tokens.some(
      (word, at) =>
        hosts.has(word) &&
        !(word === '@host' && hosts.has(tokens[at - 1] ?? '')) &&
        !tokens.slice(Math.max(0, at - 2), at).some((before) => places.has(before)),
    );
    if (hasSubject && hasHost) return false;
    if (hasHost && !isMarked && actors.has(recipient) && !HOST_AS_SUBJECT.test(text)) return false;
    return !persons.has(recipient) || ((isMarked || hasSubject) && !/^(?:der|dieser)$/.test(tokens[place - 1] ?? ''));
  });
}
