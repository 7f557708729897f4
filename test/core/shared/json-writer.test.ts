import { expect, test } from 'vitest';
import { type JsonWriter, writeJson } from '../../../core/shared/json-writer.ts';
import { finishSteps } from '../../../core/shared/steps.ts';

function write(work: (out: JsonWriter) => void): Buffer {
  return finishSteps(
    writeJson(function* (out) {
      work(out);
      yield;
    }),
  );
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
  expect(write((out) => void out.string(text)).toString()).toBe(JSON.stringify(text));
});

test('writes bytes in base64, and again what was written before', () => {
  const bytes = Buffer.from([0, 255, 1, 254]);
  const written = write((out) => {
    out.json('[');
    const range = out.string('ü');
    out.json(',');
    out.base64(bytes.subarray(1));
    out.json(',');
    out.again(range);
    out.json(']');
  });
  expect(JSON.parse(written.toString())).toEqual(['ü', bytes.subarray(1).toString('base64'), 'ü']);
});

test('a text that is written while another one is written, or after it, leaves that alone', () => {
  const inner: Buffer[] = [];
  const outer = write((out) => {
    out.json('"outer ');
    inner.push(write((other) => void other.string('inner')));
    out.json('outer"');
  });
  const later = write((out) => void out.string('later and longer than the others'));
  expect([outer, ...inner, later].map(String)).toEqual([
    '"outer outer"',
    '"inner"',
    '"later and longer than the others"',
  ]);
});
