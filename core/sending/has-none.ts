import { compileLater } from '../shared/lazily.ts';
import { listWords, pattern } from './word-patterns.ts';

/** Says of its subject that it has none; some of these words also form the past: `non ha trovato`, `har ikke aktivert`. */
const HAS_NO = pattern(
  listWords(
    `no tiene | no dispone | no posee | non ha | non possiede | non dispone | não tem | não possui | não dispõe | ne dispose | ne possède | ne disposez | ne possédez | n'a pas | n'a plus | n'a | har ikke | har inte | ikke har | inte har | ei omista | nie posiada | nemá | nevlastní | nu are | nu deține | не имеет | не має`,
  ),
);

const DETERMINER = String.raw`(?:un[ao']?|une|um|uma|de|di|d'|do|pas|plus|más|più|mais|aucune?|ning[uú]na?|nessun[ao']?|alcun[ao']?|nenhuma?|n[åo]gon|n[åo]got|nogen|noget|noen|noe|en|et|ett|ei|[żz]adn\p{L}{1,4}|[žz]ádn\p{L}{1,4}|nicio|niciun|никак\p{L}{2,4}|жодн\p{L}{2,4}|aqu[ií]|qui|ici|her|här|tu|zde|u nas|u nás|hos oss|hos os|у нас|здесь|тут)`;
const MAILBOX = pattern(
  listWords(
    `buzón | casilla | cuenta | dirección | correo | casella | mailbox | account | indirizzo | caixa | conta | endereço | boîte | compte | adresse | messagerie | ~adress | ~postboks | ~postkasse | ~postkonto | ~brevlåd | ~mailboks | konto | e-post | epost | ~laatikkoa | ~tiliä | ~osoitetta | konta | skrzynk | adresu | schránk | účet | účtu | cont | căsuț | adres | cutie | почтового ящика | ящика | адреса | электронного адреса | учетной записи | учётной записи | аккаунта | скриньки | поштової скриньки | облікового запису`,
  ),
);
/** Of which kind every mailbox and address is. */
const OF_MAIL = String.raw`(?: (?:(?:de |di |d')?(?:correo|correio|messagerie|posta|courriel|e-?mail|mail)|aux lettres|[ée]le[ctk]tr\p{L}{2,8}|elettronic\p{L}|postal\p{L}{0,2}|poczt\p{L}{2,6}|po[șsş]tal\p{L}))?`;
/** A preposition and what recipients have a mailbox at. */
const HERE = String.raw`(?: (?:aqu[ií]|qui|ici|her|här|hier|tu|tutaj|zde|tu|aici|здесь|тут)(?!\p{L})| (?:en|no|na|em|nest[ea]|nesse|ness[ea]|con|connosco|conosco|su|sul|in|nel|nella|presso|da|di|chez|sur|dans|à|på|i|hos|w|u|v|pe|în|in|la|на|в|у) (?:(?:este|ese|esta|nuestr[ao]|quest[ao]|nostr[ao]|di|este|noss[ao]|ce|cet|cette|notre|denn[ae]|dette|den|det|här|her|vår\p{L}?|vores|tym|naszym|našem|tomto|acest|этом|нашем|цьому|нашому) ?){0,2}(?:server|servidor|servizio|servi[cç]\p{L}{1,2}|serveur|serwer|sistem\p{L}{0,2}|system|syst[eè]me|dom[ií]n\p{L}{1,2}|domaine|domene|domen|domän|domæn|сервер|систем|домен|nosotros|noi|nous|n[óo]s|oss|os|nas|nás|нас|@host|@addr|@target)\p{L}{0,4}(?!\p{L})|(?<=\p{L}) ?(?:@host|@addr|@target))`;

/** A mailbox or an address right behind, and nothing else but where: `una cuenta verificada` is another one. */
const NO_MAILBOX = compileLater(
  () =>
    `^ ?(?:${DETERMINER} ?(?<![\\p{L}](?=\\p{L}))){0,3}(?:${MAILBOX.source})\\p{L}{0,4}${OF_MAIL}(?:${HERE}| ?["'»”.]{0,2}(?:$|[.,;:!?()]))`,
);
/** A mailbox or an address, a preposition, and whose it is: `ningún buzón de usuario joe`. */
const MAILBOX_OF = compileLater(
  () =>
    `^ ?(?:${DETERMINER} ?(?<![\\p{L}](?=\\p{L}))){0,3}(?:${MAILBOX.source})\\p{L}{0,4}${OF_MAIL} \\p{L}{1,5} (?<owner>.{1,60})`,
);
/** What someone has, and no verb. */
const HAS_THING = compileLater(() => `^ ?(?:${DETERMINER}(?:(?<=')|(?!\\p{L}))|${MAILBOX.source})`);

/** Between a subject and its verb: its name, and where it is. */
const MAX_SUBJECT_WORDS = 4;

/** What a clause says with a word for having none. */
export interface HasNone {
  /** of that word */
  at: number;
  /** a recipient has no mailbox, and not: a message no recipient, or a recipient no account of some kind */
  isOfRecipient: boolean;
}

/** Returns what a clause (lower case) says that its subject does not have; null when it does not say so. Linear. */
export function readHasNone(clause: string, namesRecipient: (words: string) => boolean): HasNone | null {
  const found = HAS_NO.exec(clause);
  if (found === null) return null;
  const at = found.index;
  const behind = clause.slice(at + found[0].length);
  const subject = clause.slice(0, at).trim().split(' ').slice(-MAX_SUBJECT_WORDS).join(' ');
  if (NO_MAILBOX.test(behind) && namesRecipient(subject)) return { at, isOfRecipient: true };
  // Of a server that has none for the recipient, other rules know.
  const owner = MAILBOX_OF.exec(behind)?.groups?.['owner'];
  if (owner !== undefined && namesRecipient(owner)) return null;
  return HAS_THING.test(behind) ? { at, isOfRecipient: false } : null;
}
