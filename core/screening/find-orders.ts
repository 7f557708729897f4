import { type OrderSentence, readOrderSentences } from './order-features.ts';
import { hasGroup, OrderModel } from './order-model.ts';
import WEIGHTS from './order-weights.json' with { type: 'json' };
import { isAboutDoor } from './pressure-signals.ts';

const MODEL = new OrderModel(WEIGHTS);

/** What the model takes for an order to a machine. */
export interface FoundOrder {
  excerpt: string;
  why: string;
}

const MAX_ORDERS = 3;
/** Words in groups that an order has at least; many sentences of ordinary mail have fewer. */
const MIN_WORDS = 2;
/** A sentence is read with its neighbor when one of them scores more. */
const WORTH_A_LOOK = -2.5;

/**
 * Among many sentences, one that looks like an order by chance is more likely: from this number on, each must score more, by so much for each
 * time that their number doubles.
 */
const FEW_SENTENCES = 6;
const MORE_PER_DOUBLING = 0.3;
const MAX_MORE = 0.45;

/** What two sentences together must score more if they speak of a journey, a lesson or a club: people order each other so. */
const MORE_AMONG_PEOPLE = 0.9;
const AMONG_PEOPLE =
  /\b(?:flights?|trains?|ferry|hotel|tickets?|booking|parcel|refund|exams?|homework|lessons?|class|school|course|lecture|race|(?:this|the|our) (?:group|club|choir|team|album|forum|chat)|members|singers|players|guests|flug|zug|fahre|hausaufgaben?|prufung|klausur|unterricht|schule|verein\w*|mitglieder|vol|devoirs|examen|cours|ecole|membres|vuelo|deberes|clase|escuela|miembros|volo|compiti|esame|scuola|membri|voo|exame|escola|membros|vlucht|huiswerk|leden)\b/;
/** What makes such words an excuse: a place to send something to, and what a machine has. */
const OF_MACHINES =
  /@|:\/\/|\b(?:ais?|llms?|bots?|prompts?|inbox|mailbox|e-?mails?|contacts|passwords?|customers?|invoices?|payments?|database|logs?|files?)\b/;

/** What sentences about a door or a network at home must score more: families ask each other for codes. */
const MORE_AT_HOME = 2;

/** Returns what sentences must score more that a person sees, that speak of a door at home, and that name no machine. */
function marginAtHome(sentences: readonly OrderSentence[], least: number): number {
  const isOfHome = least >= 0 && sentences.some(({ folded, start, end }) => isAboutDoor(folded.slice(start, end)));
  return isOfHome && !sentences.some((each) => hasGroup(each, 'ai', 'agent', 'program')) ? MORE_AT_HOME : 0;
}

/** Returns what a sentence among so many must score more than the least. */
export function marginOfMany(sentences: number): number {
  return Math.min(MAX_MORE, MORE_PER_DOUBLING * Math.log2(Math.max(1, sentences / FEW_SENTENCES)));
}

/**
 * Returns the sentences of folded text that the model scores above `least` and what their number asks for (`margin`), the highest first; at most
 * 3. `original`: the text as written. Linear.
 */
export function findOrders(
  folded: string,
  original: string,
  { least, margin }: { least: number; margin: (sentences: number) => number },
): FoundOrder[] {
  const sentences = readOrderSentences(hideQuotations(folded), MODEL.find);
  const limit = least + margin(sentences.length);
  const found: { at: number; score: number }[] = [];
  let before = -Infinity;
  for (const [at, sentence] of sentences.entries()) {
    const alone = sentence.words.length < MIN_WORDS ? -Infinity : MODEL.score(sentence, null);
    const previous = sentences[at - 1];
    const isNear = previous !== undefined && Math.max(alone, before) > WORTH_A_LOOK;
    const together = isNear ? MODEL.score(previous, sentence) : -Infinity;
    if (alone > limit) {
      if (alone > limit + marginAtHome([sentence], least)) found.push({ at, score: alone });
    } else if (together > limit && before <= limit && previous !== undefined) {
      const both = folded.slice(previous.start, sentence.end);
      // People do not hide what they ask of each other.
      const isAmongPeople = least >= 0 && AMONG_PEOPLE.test(both) && !OF_MACHINES.test(both);
      const more = Math.max(isAmongPeople ? MORE_AMONG_PEOPLE : 0, marginAtHome([previous, sentence], least));
      if (together > limit + more) found.push({ at, score: together });
    }
    before = alone;
  }
  if (found.length === 0) return [];
  const written = folded.length === original.length ? sentences : readOrderSentences(original, MODEL.find);
  const [text, own] = written.length === sentences.length ? [original, written] : [folded, sentences];
  return found
    .toSorted((one, other) => other.score - one.score)
    .slice(0, MAX_ORDERS)
    .map(({ at }) => {
      const sentence = sentences[at];
      const { start = 0, end = 0 } = own[at] ?? {};
      return { excerpt: text.slice(start, end), why: sentence === undefined ? ORDERS : explain(sentence) };
    });
}

/** What is before a value of data: `"key": `, `key = `, the comma of a table, the parenthesis of a call. */
const BEFORE_VALUE = /(?:"\s{0,3}:|\w\s{0,2}=|[,;\t({[])\s{0,3}$/;
const MAX_BEFORE_VALUE = 8;

/** Returns text with spaces for what is in quotation marks: an order that is quoted is told of, not given. Values of data are not quoted. */
export function hideQuotations(folded: string): string {
  if (!folded.includes('"')) return folded;
  return folded.replace(/"[^"\n]{12,300}"/g, (quoted, at: number) =>
    BEFORE_VALUE.test(folded.slice(Math.max(0, at - MAX_BEFORE_VALUE), at))
      ? quoted
      : `"${' '.repeat(quoted.length - 2)}"`,
  );
}

const ORDERS = 'it reads like an order to a machine that reads the mail';

function explain(sentence: OrderSentence): string {
  const has = (...names: Parameters<typeof hasGroup> extends [unknown, ...infer Names] ? Names : never) =>
    hasGroup(sentence, ...names);
  if (has('ignore') && has('rule')) return 'it tells the reader to ignore its instructions';
  if (has('not') && has('say', 'confirm') && has('user')) return 'it wants to keep something from the user';
  if (has('pretend') || (has('task') && has('fresh'))) return 'it gives the machine another role';
  if (has('ai', 'agent', 'program')) return 'it says what a machine that reads the mail must do';
  if (has('secret')) return 'it asks for a secret, as one does of a machine';
  return ORDERS;
}
