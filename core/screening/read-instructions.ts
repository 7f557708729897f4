import { CONCEPT } from './concept.ts';
import type { Effort } from './effort.ts';
import { findOrders, marginOfMany } from './find-orders.ts';
import {
  divideJoinedWords,
  foldText,
  joinBrokenWords,
  joinLabeledLines,
  joinSpacedLetters,
  readDigitsAsLetters,
} from './folded-text.ts';
import { findLivePhrases, type LivePhrases } from './live-phrases.ts';
import { findMachineSignals, orders, type Signal } from './machine-signals.ts';
import { findPressure } from './pressure-signals.ts';
import { type Sentence, SIGN, type Survey, surveyText } from './survey-text.ts';

/** Something that a text asks for. */
export interface Request {
  kind: 'instruction' | 'pressure';
  /** the sentence, as written where that is possible */
  excerpt: string;
  why: string;
}

/**
 * How a text is read: `seen` by a person, who notices it; or `hidden`, where a weak signal is enough; `preheader`: hidden before all that is
 * seen, where newsletters put the text of their preview; `label`: a comment, or what an attribute says of a picture or a link; `anywhere`: all
 * text of HTML, of which a part may be hidden.
 */
export type Reading = 'seen' | 'hidden' | 'preheader' | 'label' | 'anywhere';

/** Sum of weights from which on a text is worth a look. */
const ENOUGH: Readonly<Record<Reading, number>> = {
  seen: 1,
  hidden: 0.4,
  preheader: 0.4,
  label: 0.4,
  anywhere: 0.4,
};
/** What the model of orders says at least. Of what is hidden among many sentences, few may be hidden. */
const LEAST_SCORE: Readonly<Record<Reading, { least: number; margin: (sentences: number) => number }>> = {
  seen: { least: 0, margin: marginOfMany },
  hidden: { least: -1, margin: marginOfMany },
  preheader: { least: 0, margin: marginOfMany },
  label: { least: -1, margin: marginOfMany },
  anywhere: { least: -1, margin: () => 0 },
};
/** Sentences whose signals count together. */
const WINDOW = 3;
const MAX_REQUESTS = 3;

const MACHINE_MASK =
  CONCEPT.ignore | CONCEPT.machine | CONCEPT.assistant | CONCEPT.user | CONCEPT.instruction | CONCEPT.hint;
/** What every request for secrets or money has, and what names them. */
const REQUEST = CONCEPT.send | CONCEPT.pay;
/** A wallet, or a secret: money is also asked for without a verb of paying. */
const OF_PRESSURE = CONCEPT.account | CONCEPT.confidence | CONCEPT.secret | CONCEPT.threat;
const NAMED = CONCEPT.account | CONCEPT.confidence;
const SECRET_OR_MONEY = CONCEPT.secret | CONCEPT.pay;
/** What a text has at least when it asks for a secret; some secrets have several words. */
const SECRET_WORDS =
  /codes?\b|\b(?:digits|tan|otp|kod\w{0,5}|codigo|codice|key|keys|phrase|card|cards|number|details|security|birth|cookie)\b|код/;
const MARKS =
  /<[ |]{0,2}\||<\/[a-z]|im_end|\[\/?inst\]|\[(?:system|developer|assistant)\]|<<\/?sys|<\/?(?:system|instructions?|assistant|admin)|###|im_start|role["']?\s*:|["'](?:tool_|function_|next_action)/;

/**
 * Returns what a text asks a machine to do, and what it asks for under pressure, as far as the effort allows. Linear; at most 6. `whole`: the
 * survey of the folded text.
 */
export function readInstructions(text: string, reading: Reading, effort: Effort, whole?: Survey): Request[] {
  if (effort.isSpent) return [];
  const survey = effort.take(whole ?? surveyText(foldText(text)));
  const found = readSurvey(survey, text, reading);
  if (found.length > 0) return found;
  const { folded, signs } = survey;
  for (const other of [
    (signs & SIGN.likeLetter) === 0 ? null : readDigitsAsLetters(folded),
    (signs & SIGN.spacedLetters) === 0 ? null : joinSpacedLetters(folded),
    (signs & SIGN.longWord) === 0 ? null : divideJoinedWords(text),
    joinLabeledLines(folded),
    joinBrokenWords(folded),
  ]) {
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- spent by the readings before
    if (other === null || effort.isSpent) continue;
    const separated = effort.take(surveyText(separateOrder(other)));
    const requests = readSurvey(separated, text, reading);
    const instructions = requests.filter(({ kind }) => kind === 'instruction');
    if (instructions.length > 0) return instructions;
    const read = other.slice(0, separated.folded.length);
    const orders = orderRequests(read, read, reading);
    if (orders.length > 0) return orders;
  }
  return orderRequests(folded, text, reading);
}

function orderRequests(folded: string, text: string, reading: Reading): Request[] {
  return findOrders(folded, text, LEAST_SCORE[reading]).map((order) => ({ kind: 'instruction', ...order }));
}

/** Words of an order whose letters were joined without spaces between them. */
function separateOrder(folded: string): string {
  return folded.replace(
    /(?:ignore|disregard|forget)(?:all|any|the|your|my|of|these)*(?:previous|prior|earlier|above)?(?:instructions?|prompts?|rules)/g,
    (order) =>
      order.replace(
        /(ignore|disregard|forget|all|any|the|your|my|of|these|previous|prior|earlier|above)(?=[a-z])/g,
        '$1 ',
      ),
  );
}

function readSurvey(survey: Survey, original: string, reading: Reading): Request[] {
  const { mask, signs } = survey;
  return [
    ...(reading !== 'seen' || mayInstruct({ mask, signs }) ? readMachineOrders(survey, original, reading) : []),
    ...((mask & (REQUEST | OF_PRESSURE)) === 0 ? [] : readPressure(survey, original)),
  ];
}

function readMachineOrders(survey: Survey, original: string, reading: Reading): Request[] {
  const requests: Request[] = [];
  const { length } = survey.sentences;
  let live: LivePhrases | null = null;
  const readLive = () => (live ??= findLivePhrases(survey.folded, survey.extents().filter(mayInstruct)));
  const signals = survey.sentences.map((_each, at) => signalsAt(survey, at, reading, readLive));
  for (let at = 0; at < length && requests.length < MAX_REQUESTS; at++) {
    if (signals[at]?.length === 0) continue;
    const found = distinct(signals.slice(at, at + WINDOW).flat());
    let sum = found.reduce((total, { weight }) => total + weight, 0);
    if (sum >= 0.4 && survey.read(at, at + WINDOW).some(orders)) sum += 0.3;
    if (sum < ENOUGH[reading]) continue;
    const strongest = found.toSorted((one, other) => other.weight - one.weight)[0];
    const place = signals.findIndex((each, index) => index >= at && each.some(({ why }) => why === strongest?.why));
    requests.push({
      kind: 'instruction',
      excerpt: sentenceAt(original, survey, place === -1 ? at : place),
      why: strongest?.why ?? '',
    });
    at += WINDOW - 1;
  }
  return requests;
}

/** Returns whether a sentence or a text has a word or a mark of what speaks to machines. */
function mayInstruct({ mask, signs }: { mask: number; signs: number }): boolean {
  return (mask & MACHINE_MASK) !== 0 || (signs & SIGN.mark) !== 0;
}

const NO_SIGNALS: readonly Signal[] = [];

function signalsAt(survey: Survey, at: number, reading: Reading, readLive: () => LivePhrases): readonly Signal[] {
  const { mask = 0, signs = 0 } = survey.sentences[at] ?? {};
  const isHidden = reading !== 'seen';
  const isOfMachines = mayInstruct({ mask, signs });
  const isOfBusiness =
    (reading === 'hidden' || reading === 'anywhere' || (reading === 'label' && isOfMachines)) &&
    startsWith(ORDER_OF_BUSINESS, survey, at);
  if (!isOfMachines && !isOfBusiness && !(isHidden && ((mask & HIDDEN_MASK) !== 0 || (signs & SIGN.number) !== 0)))
    return NO_SIGNALS;
  const [sentence] = survey.read(at, at + 1);
  if (sentence === undefined) return NO_SIGNALS;
  const isWorth = isOfMachines && ((mask & MACHINE_MASK) !== 0 || MARKS.test(sentence.text));
  const signals = isWorth ? findMachineSignals(sentence, isHidden, readLive()) : [];
  if (!isHidden) return signals;
  if (isHiddenOrder(sentence, reading, isOfBusiness || (orders(sentence) && startsWith(ORDER, survey, at))))
    signals.push({ weight: 0.4, why: 'it says what the reader must do' });
  return [...signals, ...hiddenSignals(sentence, (signs & SIGN.number) !== 0)];
}

/**
 * Returns whether a sentence that begins with a verb of orders is one: with what is done, in the same clause. Before a mail, shops and banks say
 * `Transfer complete` and `Approve the payment in our app`; a comment may be `Quote block`, and a picture `Grant Smith`.
 */
function isHiddenOrder(sentence: Sentence, reading: Reading, hasVerb: boolean): boolean {
  const { text, mask } = sentence;
  if (!hasVerb || reading === 'preheader' || FOR_PEOPLE.test(text)) return false;
  if (reading === 'label') return (mask & OF_MACHINES) !== 0;
  return OBJECT.test(text);
}

/** Returns whether a sentence begins as a pattern says, without a copy of it. */
function startsWith(pattern: RegExp, { sentences, folded }: Survey, at: number): boolean {
  pattern.lastIndex = sentences[at - 1]?.end ?? 0;
  return pattern.test(folded);
}

/** Each reason counts once, with its largest weight. */
function distinct(signals: readonly Signal[]): Signal[] {
  const byReason = new Map<string, Signal>();
  for (const signal of signals)
    if ((byReason.get(signal.why)?.weight ?? 0) < signal.weight) byReason.set(signal.why, signal);
  return [...byReason.values()];
}

const HIDDEN_MASK = CONCEPT.send | CONCEPT.act | CONCEPT.hint;
/** An IBAN, or an address of a wallet. */
const ACCOUNT = /\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){3,7}(?: ?[a-z0-9]{1,4})?\b|\bbc1[a-z0-9]{20,60}\b|\b0x[0-9a-f]{40}\b/;

/** Verbs at the beginning of an order: what is done with mail, money and orders. */
const OF_BUSINESS =
  'forward|delete|approve|transfer|wire|release|grant|disclose|reveal|export|bcc|whitelist|mark (?:it|this|the)|treat|hand over|append|refund|quote|leave (?:out|the)|omit|leite|loesche|losche|uberweise|trage?|gib|markiere|transfere\\p{L}*|valide[zr]?|marque[zr]?|reenvia|aprueba|marca|inoltra|approva|segna|encaminhe|aprove|stuur|markeer|przeslij|zatwierdz|oznacz|перешл\\p{L}*|отмет\\p{L}*|одобр\\p{L}*|preposli|schval|godkann|videresend|godkend|onayla|ilet';
/** Verbs that hidden texts of shops have as well: they need a sentence that orders something. */
const OF_HIDDEN =
  'pay|send|reply|respond|install|run|execute|upload|archive|summari[sz]e|extract|collect|hand|leave|book|include|state|report|accept|cancel|ignore|sende|antworte|nenne|fuge|envoie\\p{L}*|ajoute[zr]?|reponds|envia|responde|anade|agrega|invia|aggiungi|rispondi|envie|adicione|voeg|wyslij|dodaj|odpowiedz|отправ\\p{L}*|добав\\p{L}*|ответ\\p{L}*|укажи|pridej|posli|lagg|skicka|tilfoj|ekle|gonder';
const compileOrder = (verbs: string) =>
  new RegExp(
    `[\\s"'(*_#>-]{0,12}(?:(?:please|kindly|then|now|also|and|first|bitte|por favor|prosze|пожалуйста),? )?(?:${verbs})(?![\\p{L}\\p{N}])`,
    'uy',
  );
const ORDER_OF_BUSINESS = compileOrder(OF_BUSINESS);
const ORDER = compileOrder(`${OF_BUSINESS}|${OF_HIDDEN}`);
/** What mail, money, accounts and keys are called, and an address: in the clause of the verb, a few words behind it, and in no question. */
const OBJECT =
  /^(?!.*\?\s*$)[^\p{L}]*(?:[^\s,;:!]+ ){1,7}?(?:["']?(?:e-?mails?|messages?|threads?|mailbox|inbox|invoices?|payments?|funds|money|accounts?|orders?|address(?:es)?|passwords?|keys?|tokens?|credentials|secrets?|forms?|contacts|files?|rechnung\p{L}{0,2}|zahlung\p{L}{0,2}|nachricht\p{L}{0,2}|konto\p{L}{0,2}|passwort|factures?|paiements?|comptes?|facturas?|pagos?|cuentas?|mensajes?|correos?|fattur[ae]|pagament[oi]|messaggi\p{L}?|fatura\p{L}{0,3}|pagamentos?|mensage\p{L}{1,2}|factu\p{L}{2,4}|berichten?|betal(?:n?ing)\p{L}{0,2}|besked\p{L}{0,4}|meddeland\p{L}{1,3}|faktur\p{L}{1,4}|wiadomo\p{L}{1,4}|platno\p{L}{1,4}|platb\p{L}|zprav\p{L}|odeme\p{L}{0,3}|mesaj\p{L}{0,4}|hesa[bp]\p{L}{0,3}|счет\p{L}{0,2}|письм\p{L}{1,2}|сообщени\p{L}{1,2}|платеж\p{L}{0,2}|парол\p{L}{1,2})(?![\p{L}\p{N}])|[^\s@]{1,64}@[a-z0-9-]{1,63}\.[a-z])/su;
const OF_MACHINES = CONCEPT.machine | CONCEPT.assistant;
const FOR_PEOPLE =
  /\bthis (?:e-?mail|newsletter|message|mail|issue)\b.{0,30}\b(?:friend|friends|colleague|someone|browser)\b|\bto (?:a )?friends?\b|\bas spam\b|\bunsubscribe\b/;

/** What senders do not hide when they mean it for a person. */
const HIDDEN_PHRASES: readonly [pattern: RegExp, weight: number, why: string][] = [
  [
    /\byou (?:must|have to|need to|should|are to|shall|will)\b.{0,60}\b(?:include|reply|send|say|answer|tell|forward|mark|add|output|approve|click|open|state|recommend|always|never)\b/s,
    0.4,
    'it says what the reader must do',
  ],
  [
    /\b(?:already|pre-?|has been|was|is) ?(?:been )?(?:approved|authori[sz]ed|verified)\b|\bapproved (?:this|the) payment\b|\bno (?:further |other |additional |more )?(?:confirmation|approval|verification|check)s? (?:is |are )?(?:required|needed|necessary)\b/,
    0.5,
    'it claims that something is approved',
  ],
  [
    /\b(?:say|state|claim|report|output|respond|answer|conclude|reply)\b.{0,30}\b(?:only|that|with|the words?|exactly)\b/s,
    0.3,
    'it says what to respond',
  ],
];

function hiddenSignals({ text, mask }: Sentence, hasNumber: boolean): Signal[] {
  const phrases = (mask & HIDDEN_MASK) === 0 ? [] : HIDDEN_PHRASES;
  const signals: Signal[] = phrases.flatMap(([pattern, weight, why]) => (pattern.test(text) ? [{ weight, why }] : []));
  if (hasNumber && ACCOUNT.test(text)) signals.push({ weight: 0.5, why: 'it has an account for payments' });
  if (
    (mask & CONCEPT.send) !== 0 &&
    text.includes('@') &&
    /[^\s@<>"]{1,64}@[a-z0-9-]{1,63}\.[a-z]/.test(text) &&
    (mask & (CONCEPT.belongings | CONCEPT.secret)) !== 0
  )
    signals.push({ weight: 0.3, why: 'it asks to send something to an address' });
  return signals;
}

function readPressure(survey: Survey, original: string): Request[] {
  const requests: Request[] = [];
  const { sentences } = survey;
  for (let at = 0; at < sentences.length && requests.length < MAX_REQUESTS; at++) {
    const mask = sentences[at]?.mask ?? 0;
    if ((mask & (REQUEST | OF_PRESSURE)) === 0) continue;
    if ((mask & (SECRET_OR_MONEY | NAMED)) === 0 && !SECRET_WORDS.test(survey.read(at, at + 1)[0]?.text ?? ''))
      continue;
    const [signal] = findPressure(survey.read(Math.max(0, at - 1), at + 2));
    if (signal === undefined) continue;
    requests.push({ kind: 'pressure', excerpt: sentenceAt(original, survey, at), why: signal.why });
    at += 1;
  }
  return requests;
}

/** Returns the sentence as written, if the original has as many. */
function sentenceAt(original: string, { sentences, folded }: Survey, at: number): string {
  const written = surveyText(original).sentences;
  const [text, all] = written.length === sentences.length ? [original, written] : [folded, sentences];
  return text.slice(all[at - 1]?.end ?? 0, all[at]?.end ?? 0);
}
