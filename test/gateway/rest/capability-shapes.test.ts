import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { graphqlOnly, graphqlText, inRest, named, restOnly } from '../../../core/shared/field-notes.ts';
import { snakeCase } from '../../../core/shared/word-case.ts';
import { makeReader, makeWriter, snakeOutput, wireInput, wireOutput } from '../../../gateway/rest/capability-shapes.ts';

/** Names are of the whole process, and openapi.json has all of them: a later test file must not find those of this one. */
const components: z.ZodType[] = [];
const nameShape = <Shape extends z.ZodType>(shape: Shape, meta: { id: string; description?: string }): Shape => {
  const made = shape.meta(meta) as Shape;
  components.push(made);
  return made;
};
afterAll(() => {
  for (const shape of components) z.globalRegistry.remove(shape);
});

const at = '2026-11-28T10:00:00.000Z';
const shape = z.object({
  threadId: z.string().nullable().meta({ description: 'The thread.' }),
  expiresAt: z.date().nullish().meta({ description: 'When it ends.' }),
});

test('fields have names in snake_case', () => {
  expect(snakeCase('isReceiptRuleConfigured')).toBe('is_receipt_rule_configured');
  expect(Object.keys(wireOutput(shape, 'snake').shape)).toEqual(['thread_id', 'expires_at']);
});

test('a time is ISO 8601 text in the document and keeps its description', () => {
  const { properties } = z.toJSONSchema(wireOutput(shape, 'snake'));
  expect(properties?.['expires_at']).toMatchObject({
    description: 'When it ends.',
    anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
  });
});

test('a time of a request becomes a Date; null, omission and other texts stay', () => {
  const inputs = wireInput(shape, 'snake');
  const read = (body: object) => makeReader(shape, 'snake')(inputs.parse({ thread_id: at, ...body }));
  expect(read({ expires_at: at })).toEqual({ threadId: at, expiresAt: new Date(at) });
  expect(read({ expires_at: null })).toEqual({ threadId: at, expiresAt: null });
  expect(read({})).toEqual({ threadId: at });
  expect(inputs.safeParse({ thread_id: null, expires_at: 'tomorrow' }).success).toBe(false);
});

test('fields of objects in lists have the names and forms of REST', () => {
  const list = z.object({ doneAt: z.array(z.object({ lastTry: z.date() })).nullable() });
  const write = makeWriter(list, 'snake');
  expect(write?.({ doneAt: [{ lastTry: new Date(at), secret: 1 }] })).toEqual({ done_at: [{ last_try: at }] });
  expect(write?.({ doneAt: null })).toEqual({ done_at: null });
  expect(makeReader(list, 'snake')({ done_at: [{ last_try: at }] })).toEqual({ doneAt: [{ lastTry: new Date(at) }] });
  expect(makeWriter(list, 'camel')?.({ doneAt: [{ lastTry: new Date(at) }] })).toEqual({ doneAt: [{ lastTry: at }] });
});

test('a field of one interface is not in the other, and may have another name', () => {
  const noted = z.object({
    one: restOnly(z.string()),
    two: graphqlOnly(z.string()),
    three: named(z.string(), { restName: 'drei' }),
  });
  expect(Object.keys(wireOutput(noted, 'snake').shape)).toEqual(['one', 'drei']);
  expect(makeWriter(noted, 'snake')?.({ one: '1', two: '2', three: '3' })).toEqual({ one: '1', drei: '3' });
});

test('a shape that REST has as it is stays the same component', () => {
  const same = nameShape(z.object({ name: z.string() }), { id: 'TestSame' });
  expect(wireOutput(same, 'snake')).toBe(same);
  const other = nameShape(z.object({ same, madeAt: z.date() }), { id: 'TestOther' });
  expect(wireOutput(other, 'snake')).toBe(wireOutput(other, 'snake'));
  expect(wireOutput(other, 'snake').shape['same']).toBe(same);
  expect(wireOutput(other, 'snake').meta()).toMatchObject({ id: 'TestOther' });
});

test('a field with a shape of its own in REST is checked and returned as that shape says', () => {
  const addresses = z.union([z.string(), z.array(z.string())]);
  const noted = z.object({
    sentTo: graphqlText(inRest(z.array(z.string()), addresses.meta({ description: 'One or several.' })), 'A list.'),
  });
  const inputs = wireInput(noted, 'snake');
  expect(inputs.safeParse({ sent_to: 'ann@example.org' }).success).toBe(true);
  expect(z.toJSONSchema(inputs).properties?.['sent_to']).toMatchObject({ description: 'One or several.' });
  expect(makeReader(noted, 'snake')({ sent_to: 'ann@example.org' })).toEqual({ sentTo: 'ann@example.org' });
  expect(makeWriter(noted, 'snake')?.({ sentTo: ['ann@example.org'] })).toEqual({ sent_to: ['ann@example.org'] });
});

test('words for GraphQL leave the description and the component of REST as they are', () => {
  const plain = nameShape(z.object({ name: z.string() }), { id: 'TestWords', description: 'In REST.' });
  const noted = graphqlText(plain, 'Other.');
  expect(wireOutput(noted, 'snake').meta()).toMatchObject({ id: 'TestWords', description: 'In REST.' });
  expect(z.toJSONSchema(z.globalRegistry, { unrepresentable: 'any' }).schemas).toHaveProperty('TestWords');
});

test('a response is declared, typed and written from one shape, with the form that REST has of a field', () => {
  const { body, write } = snakeOutput(
    z.object({
      repliesTo: inRest(z.array(z.object({ address: z.string() })), z.array(z.string()).nullable()),
      latestMessage: z.object({ sentAt: z.date() }),
      note: z.string().optional(),
    }),
  );
  const written = write({ repliesTo: ['ann@example.com'], latestMessage: { sentAt: new Date(at) }, note: undefined });
  const replies: string[] | null = written.replies_to;
  expect([replies, written.latest_message.sent_at]).toEqual([['ann@example.com'], at]);
  expect(body.parse(written)).toEqual({ replies_to: replies, latest_message: { sent_at: at } });
});
