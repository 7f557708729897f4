import { expect, test } from 'vitest';
import { type JsonWriter, writeJson } from '../../../core/shared/json-writer.ts';
import { finishSteps, type Steps } from '../../../core/shared/steps.ts';

function write(work: (out: JsonWriter) => Steps<void>): Buffer {
  return finishSteps(writeJson(work));
}

const TEXTS = [
  null,
  '',
  'plain',
  'quotes " and \\ and \u0001\r\n',
  'ümläut 👩‍💻',
  '\ud83d lone',
  'x'.repeat(100_000),
  'ü'.repeat(50_000),
];

test.each(TEXTS)('writes a string as JSON.stringify does (%#)', (text) => {
  const written = write(function* (out) {
    yield* out.string(text);
  });
  expect(written.toString()).toBe(JSON.stringify(text));
});

test('writes a long text in steps, without splitting a pair of surrogates', () => {
  const text = `${'x'.repeat(65_535)}👩${'ü'.repeat(70_000)}`;
  let steps = 0;
  const written = write(function* (out) {
    for (const work = out.string(text); work.next().done !== true; steps++) yield;
  });
  expect(steps).toBe(3);
  expect(written.toString()).toBe(JSON.stringify(text));
});

test('writes bytes in base64, in steps, and again what was written before', () => {
  const bytes = Buffer.alloc(200_000, 'any bytes');
  const written = write(function* (out) {
    out.json('[');
    const range = yield* out.string('ü');
    out.json(',');
    yield* out.base64(bytes.subarray(1));
    out.json(',');
    out.again(range);
    out.json(']');
  });
  expect(JSON.parse(written.toString())).toEqual(['ü', bytes.subarray(1).toString('base64'), 'ü']);
});

test('a text that is written while another one is written, or after it, leaves that alone', () => {
  const inner: Buffer[] = [];
  const writeText = (text: string) =>
    write(function* (out) {
      yield* out.string(text);
    });
  const outer = write(function* (out) {
    out.json('"outer ');
    inner.push(writeText('inner'));
    out.json('outer"');
    yield;
  });
  const later = writeText('later and longer than the others');
  expect([outer, ...inner, later].map(String)).toEqual([
    '"outer outer"',
    '"inner"',
    '"later and longer than the others"',
  ]);
});
