import { expect, test } from 'vitest';
import { z } from 'zod';
import { findTypeText, graphqlText, named, nameType, required } from '../../../core/shared/field-notes.ts';
import { oneOf } from '../../../core/shared/vocabulary.ts';
import { describe, fieldShape } from '../../../schema/graphql/capability-shapes.ts';

test('a field has the scalar of its shape, and names that end in Id are IDs', () => {
  const readType = (name: string, shape: z.ZodType) => fieldShape(name, shape).type;
  expect(readType('name', z.string().max(3))).toBe('String');
  expect(readType('threadId', z.string().nullish())).toBe('ID');
  expect(readType('id', z.string())).toBe('ID');
  expect(readType('idOrAddress', z.string())).toBe('String');
  expect(readType('valid', z.string())).toBe('String');
  expect(readType('count', z.int().nullable())).toBe('Int');
  expect(readType('share', z.number())).toBe('Float');
  expect(readType('isActive', z.boolean())).toBe('Boolean');
  expect(readType('createdAt', z.date())).toBe('DateTime');
  expect(readType('senders', z.array(z.string()))).toEqual(['String']);
  expect(readType('metadata', z.record(z.string(), z.unknown()).nullish())).toBe('JSON');
});

test('a field may be null when its shape takes null or may be omitted', () => {
  const isNullable = (shape: z.ZodType) => fieldShape('x', shape).isNullable;
  expect([z.string(), z.string().nullable(), z.string().optional()].map(isNullable)).toEqual([false, true, true]);
});

test('a shape without a type in GraphQL is refused when the schema is made', () => {
  expect(() => fieldShape('color', z.enum(['red']))).toThrow('GraphQL has no type for the field color (enum)');
  expect(() => fieldShape('box', z.object({}))).toThrow('GraphQL has no type for the field box (object)');
});

test('fields with one vocabulary have one enum type', () => {
  const size = oneOf(['s', 'm'], { name: 'TestSize', description: 'A size.', values: { s: 'Small.', m: 'Medium.' } });
  const [one, other] = [fieldShape('size', size), fieldShape('size', size.nullable().meta({ description: 'Size.' }))];
  expect(one.type).toBe(other.type);
  expect(other).toMatchObject({ isNullable: true, description: 'Size.' });
});

test('a field has the words for GraphQL, also if REST describes it in its own', () => {
  const both = graphqlText(z.string(), 'For GraphQL.').meta({ description: 'For REST.' });
  expect(fieldShape('name', both)).toMatchObject({ description: 'For GraphQL.', isNullable: false });
  expect(describe(z.string().meta({ description: 'For both.' }))).toBe('For both.');
});

test('a type keeps its own description when a field of it has another', () => {
  const type = nameType(graphqlText(z.object({ total: z.int() }), 'Of the type.'), { type: 'TestTotals' });
  const field = graphqlText(type, 'Of the field.');
  expect(findTypeText(field)).toBe('Of the type.');
  expect(fieldShape('totals', field).description).toBe('Of the field.');
  expect(fieldShape('others', type).type).toBe(fieldShape('totals', field).type);
});

test('a field that REST may omit is required in GraphQL if its shape says so', () => {
  const isNullable = (shape: z.ZodType) => fieldShape('x', shape, 'input').isNullable;
  const omittable = z.string().nullish();
  expect([omittable, required(omittable)].map(isNullable)).toEqual([true, false]);
  expect(fieldShape('contentId', named(omittable, { graphqlType: 'String' })).type).toBe('String');
});
