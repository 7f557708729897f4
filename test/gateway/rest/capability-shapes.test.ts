import { expect, test } from 'vitest';
import { z } from 'zod';
import { fromWire, wireFields, wireInputs, wireName, wireValues } from '../../../gateway/rest/capability-shapes.ts';

const at = '2026-11-28T10:00:00.000Z';
const shape = z.object({
  threadId: z.string().nullable().meta({ description: 'The thread.' }),
  expiresAt: z.date().nullish().meta({ description: 'When it ends.' }),
});

test('fields have names in snake_case', () => {
  expect(wireName('isReceiptRuleConfigured')).toBe('is_receipt_rule_configured');
  expect(Object.keys(wireFields(shape))).toEqual(['thread_id', 'expires_at']);
});

test('a time is ISO 8601 text in the document and keeps its description', () => {
  const { properties } = z.toJSONSchema(z.object(wireFields(shape)));
  expect(properties?.['expires_at']).toMatchObject({
    description: 'When it ends.',
    anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
  });
});

test('a time of a request becomes a Date; null, omission and other texts stay', () => {
  const inputs = z.object(wireInputs(shape));
  const read = (body: object) => fromWire(shape, inputs.parse({ thread_id: at, ...body }));
  expect(read({ expires_at: at })).toEqual({ threadId: at, expiresAt: new Date(at) });
  expect(read({ expires_at: null })).toEqual({ threadId: at, expiresAt: null });
  expect(read({})).toEqual({ threadId: at });
  expect(inputs.safeParse({ thread_id: null, expires_at: 'tomorrow' }).success).toBe(false);
});

test('a Date of a row becomes text', () => {
  expect(wireValues([['expiresAt', new Date(at)]])).toEqual({ expires_at: at });
});
