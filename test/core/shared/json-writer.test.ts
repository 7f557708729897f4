import { expect, test } from 'vitest';
import { writeJson } from '../../../core/shared/json-writer.ts';

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
  expect(writeJson((out) => void out.string(text)).toString()).toBe(JSON.stringify(text));
});

test('writes bytes in base64, and again what was written before', () => {
  const bytes = Buffer.from([0, 255, 1, 254]);
  const written = writeJson((out) => {
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
  const outer = writeJson((out) => {
    out.json('"outer ');
    inner.push(writeJson((other) => void other.string('inner')));
    out.json('outer"');
  });
  const later = writeJson((out) => void out.string('later and longer than the others'));
  expect([outer, ...inner, later].map(String)).toEqual([
    '"outer outer"',
    '"inner"',
    '"later and longer than the others"',
  ]);
});
