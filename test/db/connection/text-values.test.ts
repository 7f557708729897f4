import pg from 'pg';
import { expect, test } from 'vitest';
import { parseInstant, parseTexts, TEXT_ARRAY_OID } from '../../../db/connection/text-values.ts';

test.each([
  '2026-11-24 04:16:56+00',
  '2026-11-24 04:16:56.9+00',
  '2026-11-24 04:16:56.05+00',
  '2026-11-24 04:16:56.901234+00',
  '2024-02-29 23:59:59.999999+00',
  '1969-12-31 23:59:59.5+00',
  '0044-03-15 12:00:00+00',
  '0044-03-15 12:00:00+00 BC',
  '20260-11-24 04:16:56+00',
  '2026-11-24 04:16:56.5-05:30',
  'infinity',
  '-infinity',
])('reads the instant %s as pg does', (text) => {
  expect(parseInstant(text)).toEqual(pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ, 'text')(text));
});

test.each([
  '{}',
  '{a@b.test}',
  '{a,b}',
  '{"Ann Smith",b}',
  '{b,"Smith, Ann","x}"}',
  '{"",x}',
  '{""}',
  '{NULL,a}',
  '{"a\\"b","c\\\\d"}',
  '{"{x}",y}',
  '{{a},{b}}',
  '[0:1]={a,b}',
])('reads the array %s as pg does', (text) => {
  expect(parseTexts(text)).toEqual(pg.types.getTypeParser(TEXT_ARRAY_OID as never, 'text')(text));
});
