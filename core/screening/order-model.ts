import { HashBits } from './hash-bits.ts';
import {
  FEATURE_COUNT,
  FEATURE_KINDS,
  type FindPiece,
  GROUP_FEATURES,
  hashPiece,
  MACHINE_LEVELS,
  type OrderSentence,
  readFeatures,
  TEXT_FLAGS,
} from './order-features.ts';
import { ORDER_GROUPS, type OrderGroup } from './order-words.ts';

/** What the training found (`test/core/screening/orders/train-orders.ts`): a linear model that can be read. */
export interface OrderWeights {
  bias: number;
  /** features from which on a text is long, and counts for less */
  usualFeatures: number;
  /** by name of a feature, for all texts: `has ai`, `near ignore rule`, `with question`, `address with send` */
  shared: Readonly<Record<string, number>>;
  /** further weights by how clearly the text speaks of a machine */
  byLevel: Readonly<Record<(typeof MACHINE_LEVELS)[number], Readonly<Record<string, number>>>>;
  /** of pieces of text by their names (`hashPiece`): words, their first letters, two words, characters of joined scripts */
  words: Readonly<Record<string, number>>;
}

/**
 * What a text must score more, by how clearly it speaks of a machine: of ordinary mail that a training did not see and that scores above 0,
 * most speaks of a reader who may be one.
 */
const LEVEL_MARGINS: Readonly<Record<(typeof MACHINE_LEVELS)[number], number>> = {
  named: 0,
  possible: 0.7,
  none: 0.9,
};
const MARGINS = MACHINE_LEVELS.map((level) => LEVEL_MARGINS[level]);

/** Returns the name of a feature that is no word, as the weights have it. */
export function nameFeature(feature: number): string {
  const groups = ORDER_GROUPS.length;
  const flag = feature - GROUP_FEATURES;
  if (flag >= TEXT_FLAGS.length) {
    const pair = flag - TEXT_FLAGS.length;
    return `${TEXT_FLAGS[Math.floor(pair / groups)]} with ${ORDER_GROUPS[pair % groups]}`;
  }
  if (flag >= 0) return `with ${TEXT_FLAGS[flag]}`;
  const kind = Math.floor(feature / (groups * groups));
  const [first, second] = [Math.floor(feature / groups) % groups, feature % groups];
  const name = `${FEATURE_KINDS[kind]} ${ORDER_GROUPS[first]}`;
  return kind < FEATURE_KINDS.indexOf('near') ? name : `${name} ${ORDER_GROUPS[second]}`;
}

/** A power of two; about ten times the pieces. */
const LIKELY_HASHES = 262_144;

/** Weighs sentences. */
export class OrderModel {
  readonly #bias: number;
  readonly #usual: number;
  /** weights by level and feature */
  readonly #weights: Float32Array;
  /** numbers of pieces by their hash, plus 1; where one is taken, the next is */
  readonly #table: Int32Array;
  /** hashes of which the table may have a piece */
  readonly #likely = new HashBits(LIKELY_HASHES);
  readonly #hashes: Int32Array;
  readonly #pieces: Float32Array;
  /** the text in which a piece was weighed last */
  readonly #seen: Int32Array;
  #reading = 0;

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
    const names = Object.keys(words);
    this.#table = new Int32Array(2 ** Math.ceil(Math.log2(names.length * 4 + 4)));
    this.#hashes = Int32Array.from(names, hashPiece);
    this.#pieces = Float32Array.from(names, (name) => words[name] ?? 0);
    this.#seen = new Int32Array(names.length);
    this.#hashes.forEach((hash, number) => {
      let at = hash & (this.#table.length - 1);
      while (this.#table[at] !== 0) at = (at + 1) & (this.#table.length - 1);
      this.#table[at] = number + 1;
      this.#likely.add(hash);
    });
  }

  /** Returns the number of a piece that it knows by its hash; -1: none. */
  readonly find: FindPiece = (hash) => {
    if (!this.#likely.mayHave(hash)) return -1;
    const table = this.#table;
    const last = table.length - 1;
    for (let at = hash & last; ; at = (at + 1) & last) {
      const number = table[at] ?? 0;
      if (number === 0) return -1;
      if (this.#hashes[number - 1] === hash) return number - 1;
    }
  };

  /** Returns how much a sentence, or two that follow each other, are an order to a machine: above 0 more than not. */
  score(one: OrderSentence, other: OrderSentence | null): number {
    const { features, count, level } = readFeatures(one, other);
    const base = level * FEATURE_COUNT;
    let sum = 0;
    for (let at = 0; at < count; at++) sum += this.#weights[base + (features[at] ?? 0)] ?? 0;
    const reading = ++this.#reading;
    sum += this.#weigh(one.known, reading);
    if (other !== null) sum += this.#weigh(other.known, reading);
    return this.#bias - (MARGINS[level] ?? 0) + sum / Math.max(1, Math.sqrt(count / this.#usual));
  }

  #weigh(known: readonly number[], reading: number): number {
    let sum = 0;
    for (const piece of known) {
      if (this.#seen[piece] === reading) continue;
      this.#seen[piece] = reading;
      sum += this.#pieces[piece] ?? 0;
    }
    return sum;
  }
}

/** Returns whether a group is among the words of a sentence. */
export function hasGroup({ words }: OrderSentence, ...names: readonly OrderGroup[]): boolean {
  return names.some((name) => {
    const group = ORDER_GROUPS.indexOf(name);
    return words.some(({ groups }) => groups.includes(group));
  });
}
