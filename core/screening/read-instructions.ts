import { CONCEPT } from './concept.ts';
import { foldText, joinSpacedLetters, readDigitsAsLetters } from './folded-text.ts';
import { findMachineSignals, orders, type Signal } from './machine-signals.ts';
import { findPressure } from './pressure-signals.ts';
import { readSentences, type Sentence, splitSentences } from './sentences.ts';
import { findTokens } from './tokens.ts';

/** Something that a text asks for. */
export interface Request {
  kind: 'instruction' | 'pressure';
  /** the sentence, as written where that is possible */
  excerpt: string;
  why: string;
}

/**
 * How a text is read: `seen` by a person, who notices it; or `hidden`, where a weak signal is enough; `preheader`: hidden before all that is
 * seen, where newsletters put the text of their preview.
 */
export type Reading = 'seen' | 'hidden' | 'preheader';

/** Sum of weights from which on a text is worth a look. */
const ENOUGH: Readonly<Record<Reading, number>> = { seen: 1, hidden: 0.4, preheader: 0.4 };
/** Sentences whose signals count together. */
const WINDOW = 3;
const MAX_REQUESTS = 3;

const MACHINE_MASK =
  CONCEPT.ignore | CONCEPT.machine | CONCEPT.assistant | CONCEPT.user | CONCEPT.instruction | CONCEPT.hint;
const SECRET_OR_MONEY = CONCEPT.secret | CONCEPT.pay | CONCEPT.account;
/** What a text has at least when it asks for a secret; some secrets have several words. */
const SECRET_WORDS = /\b(?:code|codes|key|keys|phrase|card|cards|number|details|security|birth|cookie)\b/;
const MARKS = /<\||\[\/?inst\]|<<\/?sys|<\/?(?:system|instructions?|assistant|admin)|###|im_start|role["']?\s*:/;

/** Returns what a text asks a machine to do, and what it asks for under pressure. Linear; at most 6. `folded`: see foldText. */
export function readInstructions(text: string, reading: Reading, folded = foldText(text)): Request[] {
  const found = readFolded(folded, text, reading);
  if (found.length > 0) return found;
  for (const other of [readDigitsAsLetters(folded), joinSpacedLetters(folded)]) {
    if (other === null) continue;
    const spaced = separateOrder(other);
    const requests = readFolded(spaced, text, reading).filter(({ kind }) => kind === 'instruction');
    if (requests.length > 0) return requests;
  }
  return [];
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

function readFolded(folded: string, original: string, reading: Reading): Request[] {
  const tokens = findTokens(folded);
  const mask = tokens.reduce((all, token) => all | token.mask, 0);
  const mayInstruct = (mask & MACHINE_MASK) !== 0 || MARKS.test(folded);
  const mayPress = mayPressure(mask, folded);
  if (!mayInstruct && !mayPress && reading === 'seen') return [];
  const sentences = readSentences(folded, tokens);
  return [
    ...(mayInstruct || reading !== 'seen' ? readMachineOrders(sentences, original, reading) : []),
    ...(mayPress ? readPressure(sentences, original) : []),
  ];
}

function mayPressure(mask: number, folded: string): boolean {
  if ((mask & (CONCEPT.send | CONCEPT.pay)) === 0) return false;
  return (mask & SECRET_OR_MONEY) !== 0 || SECRET_WORDS.test(folded);
}

function readMachineOrders(sentences: readonly Sentence[], original: string, reading: Reading): Request[] {
  const requests: Request[] = [];
  const signals = sentences.map((sentence) => signalsIn(sentence, reading));
  for (let at = 0; at < sentences.length && requests.length < MAX_REQUESTS; at++) {
    if ((signals[at]?.length ?? 0) === 0) continue;
    const window = sentences.slice(at, at + WINDOW);
    const found = distinct(signals.slice(at, at + WINDOW).flat());
    let sum = found.reduce((total, { weight }) => total + weight, 0);
    if (sum >= 0.4 && window.some(orders)) sum += 0.3;
    if (sum < ENOUGH[reading]) continue;
    const strongest = found.toSorted((one, other) => other.weight - one.weight)[0];
    const place = signals.findIndex((each, index) => index >= at && each.some(({ why }) => why === strongest?.why));
    requests.push({
      kind: 'instruction',
      excerpt: sentenceAt(original, sentences, place === -1 ? at : place),
      why: strongest?.why ?? '',
    });
    at += WINDOW - 1;
  }
  return requests;
}

function signalsIn(sentence: Sentence, reading: Reading): Signal[] {
  const isHidden = reading !== 'seen';
  const worth = (sentence.mask & MACHINE_MASK) !== 0 || MARKS.test(sentence.text);
  const signals = worth ? findMachineSignals(sentence, isHidden) : [];
  if (!isHidden) return signals;
  if (reading === 'hidden' && ORDER.test(sentence.text) && !FOR_PEOPLE.test(sentence.text) && orders(sentence))
    signals.push({ weight: 0.4, why: 'it says what the reader must do' });
  return [...signals, ...hiddenSignals(sentence)];
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

/** Verbs at the beginning of an order. */
const ORDER =
  /^[\s"'(*_#>-]*(?:please |kindly |then |now |also |and |first |bitte )?(?:forward|delete|approve|transfer|wire|pay|send|reply|respond|grant|install|run|execute|disclose|reveal|export|upload|bcc|archive|whitelist|mark|summari[sz]e|release|refund|append|extract|collect|list|print|leite|sende|loesche|losche|uberweise|envoie\w*|transfere\w*|reenvia|envia|invia|inoltra|encaminhe|envie|stuur|przeslij|wyslij|перешли|отправь|перешлите|отправьте)\b/;
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

function hiddenSignals({ text, mask }: Sentence): Signal[] {
  if ((mask & HIDDEN_MASK) === 0)
    return ACCOUNT.test(text) ? [{ weight: 0.5, why: 'it has an account for payments' }] : [];
  const signals: Signal[] = HIDDEN_PHRASES.flatMap(([pattern, weight, why]) =>
    pattern.test(text) ? [{ weight, why }] : [],
  );
  if (ACCOUNT.test(text)) signals.push({ weight: 0.5, why: 'it has an account for payments' });
  if (
    (mask & CONCEPT.send) !== 0 &&
    text.includes('@') &&
    /[^\s@<>"]{1,64}@[a-z0-9-]{1,63}\.[a-z]/.test(text) &&
    (mask & (CONCEPT.belongings | CONCEPT.secret)) !== 0
  )
    signals.push({ weight: 0.3, why: 'it asks to send something to an address' });
  return signals;
}

function readPressure(sentences: readonly Sentence[], original: string): Request[] {
  const requests: Request[] = [];
  for (let at = 0; at < sentences.length && requests.length < MAX_REQUESTS; at++) {
    if (((sentences[at]?.mask ?? 0) & (CONCEPT.send | CONCEPT.pay)) === 0) continue;
    const { mask = 0, text = '' } = sentences[at] ?? {};
    if ((mask & CONCEPT.pay) === 0 && (mask & CONCEPT.secret) === 0 && !SECRET_WORDS.test(text)) continue;
    const from = Math.max(0, at - 1);
    const [signal] = findPressure(sentences.slice(from, at + 2));
    if (signal === undefined) continue;
    requests.push({ kind: 'pressure', excerpt: sentenceAt(original, sentences, at), why: signal.why });
    at += 1;
  }
  return requests;
}

/** Returns the sentence as written, if the original has as many. */
function sentenceAt(original: string, sentences: readonly Sentence[], at: number): string {
  const written = splitSentences(original);
  return (written.length === sentences.length ? written[at] : sentences[at]?.text) ?? '';
}
