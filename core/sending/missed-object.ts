import { spellings } from './word-patterns.ts';

/**
 * Closed lists of one language for sentences that begin with the recipient, who is the object: `Einen solchen Nutzer kennt der Server nicht`,
 * `Такого пользователя мы не нашли`. A sentence of nothing else, in any order, says that the recipient is unknown; one about the sender, a key, a
 * time or a reason has another word. Words have the forms of an object where the language has them: what a recipient does not know says nothing.
 */
interface ObjectWords {
  /** exactly one, or an address in its place */
  recipient: string;
  /** recipients who could also be who does not know something: only behind `object`, or beside `subject` */
  person: string;
  /** words right before a person that make it the object */
  object: string;
  /** who does not know the recipient */
  subject: string;
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
    recipient:
      'adresse mailadresse e-mail-adresse emailadresse anschrift postfach mailbox konto mailkonto account empfängeradresse benutzerkonto zieladresse',
    person: 'empfänger nutzer benutzer adressaten teilnehmer kunden mitarbeiter',
    object: 'den diesen einen solchen solche angegebenen genannten gewünschten',
    subject: 'wir',
    missed:
      'kennt kennen kannte kannten findet finden fand fanden gefunden auffinden führt führen geführt gibt existiert existieren vorhanden bekannt registriert',
    has: 'hat haben',
    not: 'nicht',
    rest: 'server mailserver system mailsystem host rechner gateway verzeichnis nutzerverzeichnis datenbank domain solch ein eine einem die diese das dieses solches der dem dieser diesem unser unsere unserem unserer sie er es uns ist sind kann können konnte konnten wurde worden hier bei auf in im mit unter zu zur leider aber jedoch allerdings nun mehr jedenfalls namens namen angegebene genannte gewünschte so auch dort',
  },
  {
    recipient: 'adres e-mailadres mailadres postvak mailbox account gebruikersnaam',
    person: 'ontvanger geadresseerde gebruiker klant medewerker',
    object: '',
    subject: 'wij we server mailserver systeem mailsysteem host domein adresboek er',
    missed:
      'kent kennen kende kenden vindt vinden vond vonden gevonden terugvinden teruggevonden bestaat bestaan bekend geregistreerd is',
    has: 'heeft hebben',
    not: 'niet',
    rest: "zo'n een dergelijke dergelijk zulk zulke deze dit die dat de het onze ons kon konden kan kunnen werd hier bij op in met onder helaas echter maar wel meer naam opgegeven genoemde vermelde ook daar",
  },
  {
    recipient:
      'użytkownika odbiorcy odbiorcę adresata adresu adres skrzynki skrzynkę konta konto abonenta pracownika mailbox',
    person: '',
    object: '',
    subject: '',
    missed:
      'zna znamy znał znaleźć znaleziono znalazł znaleźliśmy odnaleźć odnaleziono odnalazł rozpoznaje rozpoznał rozpoznano istnieje',
    has: 'ma mamy',
    not: 'nie',
    rest: 'takiego taka takiej taką tego tej tę ten podanego podanej podanych wskazanego wskazanej o z na w u nas tym naszym tutaj tu my serwer system serwerze systemie host nasz poczty pocztowy pocztowym nazwie imieniu adresie udało się można niestety jednak już też tam',
  },
  {
    recipient: 'пользователя получателя адресата абонента адрес адреса ящик ящика аккаунт аккаунта сотрудника',
    person: '',
    object: '',
    subject: '',
    missed:
      'знает знаем знал нашел нашёл нашла нашли найти найден найдено обнаружил обнаружила обнаружили обнаружен обнаружено распознал распознала распознали существует значится нет неизвестен',
    has: '',
    not: 'не нет неизвестен',
    rest: 'такого такой такую эту указанную этого этот указанного указанный данного данный почтовый почтового с со на в у себя нас мы наш наша нашему нашем нашей этом здесь тут сервер сервере серверу система системе хост почтовая почты именем адресом однако больше уже удалось там',
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
const WORDS = LANGUAGES.map(({ recipient, person, object, subject, missed, has, not, rest }) => ({
  recipients: makeSet(`${recipient} ${person}`),
  persons: makeSet(person),
  objects: makeSet(object),
  subjects: makeSet(subject),
  missed: makeSet(missed),
  has: makeSet(has),
  not: makeSet(not),
  all: makeSet([object, subject, missed, has, not, rest, '@addr @host'].join(' ')),
}));

/** Returns whether a clause (as in `unknownPartIn`) is a sentence around a recipient as its object, who is not known, found or there. */
export function isMissedObject(clause: string): boolean {
  const text = clause.replace(ASIDE, '').replace(REACHED, '').replace(ACCOUNT, 'аккаунт');
  const tokens = (text.match(WORD) ?? []).map((word) => word.replaceAll('’', "'"));
  if (tokens.length < 3 || tokens.length > MAX_WORDS) return false;
  return WORDS.some(({ recipients, persons, objects, subjects, missed, has, not, all }) => {
    const places = tokens.flatMap((word, at) => (recipients.has(word) ? [at] : []));
    const [place = tokens.indexOf('@addr')] = places;
    if (places.length > 1 || place === -1) return false;
    const isHad = (word: string) => has.has(word);
    const isMissing = (word: string) => missed.has(word);
    const isName = (word: string, at: number) =>
      at === place + 1 && /^[a-z]{2,20}$/.test(word) && tokens.some(isMissing);
    if (!tokens.every((word, at) => at === place || all.has(word) || isName(word, at))) return false;
    if (!tokens.some((word) => not.has(word)) || !tokens.some((word) => isMissing(word) || isHad(word))) return false;
    const isObject = objects.has(tokens[place - 1] ?? '') || tokens.some((word) => subjects.has(word));
    return !persons.has(tokens[place] ?? '') || (isObject && !/^(?:der|dieser)$/.test(tokens[place - 1] ?? ''));
  });
}
