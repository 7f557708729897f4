import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { parseMessage } from '../../../../core/mime/parse-message.ts';
import { readAllText } from '../../../../core/screening/all-text.ts';
import { hideQuotations } from '../../../../core/screening/find-orders.ts';
import { foldText } from '../../../../core/screening/folded-text.ts';
import {
  FEATURE_COUNT,
  MACHINE_LEVELS,
  type OrderSentence,
  readFeatures,
  readOrderSentences,
  readWordFeatures,
} from '../../../../core/screening/order-features.ts';
import { LEVEL_MARGINS, nameFeature, OrderModel, type OrderWeights } from '../../../../core/screening/order-model.ts';
import { hasCorpora, readEmlMessages, readThreadSet, threadSets } from '../../../support/mail/corpora.ts';
import { HARMLESS_MAIL } from '../harmless-mail.ts';
import { LATER_HARMLESS_MAIL } from '../later-harmless-mail.ts';
import { LIKE_ORDERS, UNKNOWN_ORDERS, VISIBLE_ORDERS } from '../visible-orders.ts';
import { GRAMMARS } from './grammar.ts';
import { readOrders } from './read-orders.ts';

/**
 * Trains the model of orders to machines and writes `core/screening/order-weights.json`: `node test/core/screening/orders/train-orders.ts`. It
 * takes about a minute and always gives the same result. `--half`: with every second mail of the corpora only, to see what the others say; it
 * writes nothing.
 */

/** Sentences of English that the grammar makes of each kind; of the other languages, a twelfth. */
const MADE = 900;
/**
 * How much an example counts that was made, an order that was written, a sentence of the corpora that looks like an order, and every other
 * sentence of the corpora; other examples count 1.
 */
const MADE_WEIGHT = 0.3;
const WRITTEN_WEIGHT = 1.5;
const CORPUS_WEIGHT = 0.35;
const ORDINARY_WEIGHT = 0.05;
const ROUNDS = 500;
const RATE = 0.2;
const SHRINKING = 0.6;
const MIN_COUNT = 3;
const USUAL_FEATURES = 15;
/** Weights below it are left out. */
const MIN_WEIGHT = 0.005;

const { values } = parseArgs({ options: { half: { type: 'boolean', default: false } } });

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
}

const numbers = new Map<string, number>();
const counts: number[] = [];

function numberOf(name: string, isNew: boolean): number {
  let known = numbers.get(name);
  if (known === undefined && isNew) numbers.set(name, (known = counts.push(0) - 1));
  return known ?? -1;
}

function readWindows(text: string, isNew: boolean): Window[] {
  const sentences = readOrderSentences(hideQuotations(foldText(text)));
  const pairs: [OrderSentence, OrderSentence | null][] = sentences.map((each) => [each, null]);
  sentences.slice(1).forEach((each, at) => pairs.push([sentences[at] ?? each, each]));
  return pairs.map(([one, other]): Window => {
    const { features, count, level } = readFeatures(one, other);
    const names: string[] = [];
    for (let at = 0; at < count; at++) {
      const name = nameFeature(features[at] ?? 0);
      names.push(`shared ${name}`, `${MACHINE_LEVELS[level]} ${name}`);
    }
    for (const word of readWordFeatures(one, other)) names.push(`word ${word}`);
    const own = names.map((name) => numberOf(name, isNew)).filter((each) => each !== -1);
    if (isNew) for (const each of own) counts[each] = (counts[each] ?? 0) + 1;
    return {
      level: MACHINE_LEVELS[level] ?? 'none',
      features: Int32Array.from(own),
      factor: 1 / Math.max(1, Math.sqrt(count / USUAL_FEATURES)),
    };
  });
}

function makeSentences(kind: 'aimed' | 'harmless'): string[] {
  let seed = kind === 'aimed' ? 7 : 11;
  const pick = <Item>(list: readonly Item[]): Item => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return list[Math.floor((seed / 2 ** 32) * list.length)] as Item;
  };
  return Object.entries(GRAMMARS).flatMap(([language, grammar]) =>
    Array.from({ length: language === 'english' ? MADE : MADE / 12 }, () => {
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

async function readCorpora(): Promise<string[]> {
  if (!hasCorpora) return [];
  const messages = await readEmlMessages();
  for (const name of threadSets) messages.push(...(await readThreadSet(name)).messages);
  const texts: string[] = [];
  for (const { bytes } of messages) {
    const { subject, textBody, htmlBody } = await parseMessage(bytes);
    texts.push([subject, textBody ?? '', htmlBody === null ? '' : readAllText(htmlBody)].join('\n\n').slice(0, 60_000));
  }
  return texts;
}

const examples = (texts: readonly string[], weight: number): Example[] =>
  texts.map((text) => ({ windows: readWindows(text, true), weight }));
const aimed = [
  ...examples([...readOrders('aimed').map(({ text }) => text), ...VISIBLE_ORDERS, ...UNKNOWN_ORDERS], WRITTEN_WEIGHT),
  ...examples(makeSentences('aimed'), MADE_WEIGHT),
].filter(({ windows }) => windows.length > 0);
/** Of the harmless mails, a third is never trained with. */
const mails = [HARMLESS_MAIL, LATER_HARMLESS_MAIL].flatMap((list) => list.filter((_each, at) => at % 3 !== 2));
const mailTexts = mails.map(({ mail: { subject, text, html } }) =>
  [subject, text ?? '', html === null ? '' : readAllText(html)].join('\n\n'),
);
const harmless = [
  ...examples([...readOrders('harmless').map(({ text }) => text), ...LIKE_ORDERS, ...mailTexts], 1),
  ...examples(makeSentences('harmless'), MADE_WEIGHT),
];
const corpora = (await readCorpora()).map((text) => readWindows(text, false));

const weights = new Float64Array(counts.length);
let bias = 0;
const isKept = Uint8Array.from(counts, (count) => (count >= MIN_COUNT ? 1 : 0));
const squares = new Float64Array(counts.length).fill(1e-8);
let biasSquares = 1e-8;
const hard = new Set<Window>();
const ordinary = corpora.filter((_each, at) => !values.half || at % 2 === 0).flat();

function score({ features, factor }: Window): number {
  let sum = 0;
  for (const each of features) sum += weights[each] ?? 0;
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

for (let round = 0; round < ROUNDS; round++) {
  // Sentences of ordinary mail that look most like orders.
  if (round % 40 === 39 && round < ROUNDS - 40)
    corpora.forEach((windows, at) => {
      const best = values.half && at % 2 === 1 ? undefined : highest(windows);
      if (best !== undefined && score(best) > -1) hard.add(best);
    });
  const gradient = new Float64Array(counts.length);
  let biasGradient = 0;
  const learn = (window: Window | undefined, isAimed: 0 | 1, weight: number) => {
    if (window === undefined) return;
    const error = (1 / (1 + Math.exp(-score(window))) - isAimed) * weight;
    biasGradient += error;
    for (const each of window.features) gradient[each] = (gradient[each] ?? 0) + error * window.factor;
  };
  // One window of an aimed text is an order; none of a harmless one is.
  for (const { windows, weight } of aimed) learn(round < 30 ? windows.at(-1) : highest(windows), 1, weight);
  for (const { windows, weight } of harmless) for (const each of windows) learn(each, 0, weight);
  for (const each of hard) learn(each, 0, CORPUS_WEIGHT);
  for (const each of ordinary) learn(each, 0, ORDINARY_WEIGHT);
  for (let at = 0; at < weights.length; at++) {
    if (isKept[at] === 0) continue;
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
  const sentences = readOrderSentences(hideQuotations(foldText(text)));
  return Math.max(
    -Infinity,
    ...sentences.map((each, at) =>
      Math.max(model.score(each, null), at === 0 ? -Infinity : model.score(sentences[at - 1] ?? each, each)),
    ),
  );
}

const found = (texts: readonly string[], above: number) => texts.filter((text) => scoreText(text) > above).length;
process.stdout.write(
  `${Object.keys(result.words).length} words, ${FEATURE_COUNT} features, ${hard.size} sentences of the corpora\n`,
);
for (const name of ['aimed', 'harmless', 'kept-aside-aimed', 'kept-aside-harmless'] as const) {
  const texts = readOrders(name).map(({ text }) => text);
  process.stdout.write(
    `${name}: ${[0, 0.25, 0.5, 1].map((above) => `${found(texts, above)} above ${above}`).join(', ')} of ${texts.length}\n`,
  );
}
for (const half of [0, 1]) {
  const scores = corpora
    .filter((_each, at) => at % 2 === half)
    .map((windows) => Math.max(-Infinity, ...windows.map((each) => score(each) - LEVEL_MARGINS[each.level])));
  const marked = [0, 0.25, 0.5, 1].map((above) => `${scores.filter((each) => each > above).length} above ${above}`);
  process.stdout.write(`corpora, half ${half}: ${marked.join(', ')} of ${scores.length}\n`);
}
if (!values.half)
  await writeFile(
    path.resolve(import.meta.dirname, '../../../../core/screening/order-weights.json'),
    `${JSON.stringify(result, null, 2)}\n`,
  );
