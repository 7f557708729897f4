import {
  FEATURE_COUNT,
  FEATURE_KINDS,
  GROUP_FEATURES,
  MACHINE_LEVELS,
  ORDER_GROUPS,
  type OrderGroup,
  type OrderSentence,
  readFeatures,
  TEXT_FLAGS,
  WordFilter,
} from './order-features.ts';

/** What the training found (`test/core/screening/orders/train-orders.ts`): a linear model that can be read. */
export interface OrderWeights {
  bias: number;
  /** features from which on a text is long, and counts for less */
  usualFeatures: number;
  /** by name of a feature, for all texts: `has ai`, `near ignore rule`, `with question` */
  shared: Readonly<Record<string, number>>;
  /** further weights by how clearly the text speaks of a machine */
  byLevel: Readonly<Record<(typeof MACHINE_LEVELS)[number], Readonly<Record<string, number>>>>;
  /** of words and of two words behind each other */
  words: Readonly<Record<string, number>>;
}

/**
 * What a text must score more, by how clearly it speaks of a machine: of ordinary mail that a training did not see and that scores above 0,
 * most speaks of somebody who may be one.
 */
const LEVEL_MARGINS: Readonly<Record<(typeof MACHINE_LEVELS)[number], number>> = {
  named: 0.25,
  possible: 0.5,
  none: 0.2,
};
const MARGINS = MACHINE_LEVELS.map((level) => LEVEL_MARGINS[level]);

/** Returns the name of a feature that is no word, as the weights have it. */
export function nameFeature(feature: number): string {
  if (feature >= GROUP_FEATURES) return `with ${TEXT_FLAGS[feature - GROUP_FEATURES]}`;
  const groups = ORDER_GROUPS.length;
  const kind = Math.floor(feature / (groups * groups));
  const [first, second] = [Math.floor(feature / groups) % groups, feature % groups];
  const name = `${FEATURE_KINDS[kind]} ${ORDER_GROUPS[first]}`;
  return kind < FEATURE_KINDS.indexOf('near') ? name : `${name} ${ORDER_GROUPS[second]}`;
}

/** `seen`: the text in which it was weighed last. */
interface Weighed {
  weight: number;
  seen: number;
}

interface KnownWord extends Weighed {
  number: number;
}

/** Weighs sentences. */
export class OrderModel {
  readonly #bias: number;
  readonly #usual: number;
  /** weights by level and feature */
  readonly #weights: Float32Array;
  readonly #words = new Map<string, KnownWord>();
  readonly #pairs = new Map<number, Weighed>();
  #reading = 0;
  /** of the words that it knows */
  readonly filter: WordFilter;

  constructor({ bias, usualFeatures, shared, byLevel, words }: OrderWeights) {
    this.#bias = bias;
    this.#usual = usualFeatures;
    this.#weights = new Float32Array(MACHINE_LEVELS.length * FEATURE_COUNT);
    for (let feature = 0; feature < FEATURE_COUNT; feature++) {
      const name = nameFeature(feature);
      MACHINE_LEVELS.forEach((level, at) => {
        this.#weights[at * FEATURE_COUNT + feature] = (shared[name] ?? 0) + (byLevel[level][name] ?? 0);
      });
    }
    for (const [words_, weight] of Object.entries(words)) {
      const [first = '', second] = words_.split(' ');
      if (second === undefined) this.#know(first).weight = weight;
      else this.#pairs.set(this.#know(first).number * MAX_VOCABULARY + this.#know(second).number, { weight, seen: 0 });
    }
    this.filter = new WordFilter(this.#words.keys());
  }

  #know(word: string): KnownWord {
    let known = this.#words.get(word);
    if (known === undefined) this.#words.set(word, (known = { number: this.#words.size, weight: 0, seen: 0 }));
    return known;
  }

  /** Returns how much a sentence, or two that follow each other, are an order to a machine: above 0 more than not. */
  score(one: OrderSentence, other: OrderSentence | null): number {
    if (one.words.length === 0 && (other === null || other.words.length === 0)) return this.#bias;
    const { features, count, level } = readFeatures(one, other);
    const base = level * FEATURE_COUNT;
    let sum = 0;
    for (let at = 0; at < count; at++) sum += this.#weights[base + (features[at] ?? 0)] ?? 0;
    sum += this.#weighWords(one, other);
    return this.#bias - (MARGINS[level] ?? 0) + sum / Math.max(1, Math.sqrt(count / this.#usual));
  }

  #weighWords(one: OrderSentence, other: OrderSentence | null): number {
    const reading = ++this.#reading;
    let sum = 0;
    let last: KnownWord | undefined;
    let next = 0;
    const weigh = (weighed: Weighed | undefined) => {
      if (weighed === undefined || weighed.seen === reading) return;
      weighed.seen = reading;
      sum += weighed.weight;
    };
    const read = ({ words }: OrderSentence, offset: number) => {
      for (const { text, index } of words) {
        const known = this.#words.get(text);
        weigh(known);
        if (known !== undefined && last !== undefined && offset + index === next)
          weigh(this.#pairs.get(last.number * MAX_VOCABULARY + known.number));
        last = known;
        next = offset + index + 1;
      }
    };
    read(one, 0);
    if (other !== null) read(other, one.count);
    return sum;
  }
}

const MAX_VOCABULARY = 100_000;

/** Returns whether a group is among the words of a sentence. */
export function hasGroup({ words }: OrderSentence, ...names: readonly OrderGroup[]): boolean {
  return names.some((name) => {
    const group = ORDER_GROUPS.indexOf(name);
    return words.some(({ groups }) => groups.includes(group));
  });
}
