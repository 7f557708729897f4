import { expect, test } from 'vitest';
import { countJsonBytes, jsonChunks } from '../../../core/shared/json-chunks.ts';
import { LargeText } from '../../../core/shared/large-text.ts';
import { finishSteps } from '../../../core/shared/steps.ts';
import { seededRandom } from '../../support/rows/thread-mail.ts';

const join = (value: unknown) => [...jsonChunks(value)].join('');

const TEXTS = ['text', '', '"\\\n', '\u{1f4e7}', '\ud800', '\udc00', '__proto__'];
const OBJECTS = [new Date(0), new Date(Number.NaN), Object('s'), Object(1), Object(false), /x/, new Uint8Array([1, 2])];
const OTHERS = [null, undefined, true, 0, -0, 1.5e300, Number.NaN, Number.POSITIVE_INFINITY, Symbol('s'), () => 1];
const SCALARS: readonly unknown[] = [...TEXTS, ...OBJECTS, ...OTHERS];

/** Returns a value of a program: JSON, and what JSON leaves out or writes otherwise. `next` returns an integer below its argument. */
function makeValue(next: (below: number) => number, depth: number): unknown {
  const kind = depth === 0 ? 0 : next(5);
  const inner = () => makeValue(next, depth - 1);
  if (kind === 1) return Array.from({ length: next(4) }, inner);
  if (kind === 2) return Object.fromEntries(Array.from({ length: next(4) }, (_, at) => [`"${at}`, inner()]));
  if (kind === 3) {
    const result = inner();
    return { toJSON: () => result };
  }
  return SCALARS[next(SCALARS.length)];
}

test('chunks of a value are together what JSON.stringify returns', () => {
  const random = seededRandom(1);
  const next = (below: number) => Math.floor(random() * below);
  for (let run = 0; run < 5_000; run++) {
    const value = makeValue(next, 4);
    expect(join(value)).toBe((JSON.stringify(value) as string | undefined) ?? '');
  }
});

test('members whose toJSON returns undefined are left out, and items become null', () => {
  const none = { toJSON: () => undefined };
  expect(join({ a: none, b: [none, undefined, () => 1, Symbol('s')], c: 1 })).toBe('{"b":[null,null,null,null],"c":1}');
});

test('toJSON receives the name of its member or the position of its item', () => {
  const named = { toJSON: (key: string) => `at ${key}` };
  const value = { a: named, list: [named] };
  expect(join(value)).toBe(JSON.stringify(value));
});

test('a long string is written as JSON.stringify writes it, wherever a surrogate pair is', () => {
  for (const length of [65_534, 65_535, 65_536, 65_537]) {
    const text = `${'a'.repeat(length)}\u{1f4e7}\ud83d${'"'.repeat(65_536)}`;
    expect(join({ text }) === JSON.stringify({ text })).toBe(true);
  }
});

test('a large text is written as its string', () => {
  const text = new LargeText([Buffer.from('"\u{1f4e7}"'.repeat(50_000))]);
  expect(join([text]) === JSON.stringify([text])).toBe(true);
});

test('the bytes of a value are those of its JSON, with large texts of all characters', () => {
  const characters = Array.from({ length: 0x300 }, (_, at) => String.fromCharCode(at)).join('');
  const text = `${characters}\u2028\u{1f4e7}`.repeat(200);
  const large = new LargeText([Buffer.from(text), Buffer.from('"')]);
  for (const value of [null, undefined, 'é"', [], { large }, [large, { a: { b: large } }, 'x'.repeat(100_000)]])
    expect(finishSteps(countJsonBytes(value))).toBe(Buffer.byteLength(JSON.stringify(value) ?? ''));
});
