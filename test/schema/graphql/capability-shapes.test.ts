import { expect, test } from 'vitest';
import { z } from 'zod';
import { oneOf } from '../../../core/shared/vocabulary.ts';
import { fieldShape } from '../../../schema/graphql/capability-shapes.ts';

test('a field has the scalar of its shape, and names that end in Id are IDs', () => {
  const typeOf = (name: string, shape: z.ZodType) => fieldShape(name, shape).type;
  expect(typeOf('name', z.string().max(3))).toBe('String');
  expect(typeOf('threadId', z.string().nullish())).toBe('ID');
  expect(typeOf('id', z.string())).toBe('ID');
  expect(typeOf('idOrAddress', z.string())).toBe('String');
  expect(typeOf('valid', z.string())).toBe('String');
  expect(typeOf('count', z.int().nullable())).toBe('Int');
  expect(typeOf('share', z.number())).toBe('Float');
  expect(typeOf('isActive', z.boolean())).toBe('Boolean');
  expect(typeOf('createdAt', z.date())).toBe('DateTime');
  expect(typeOf('senders', z.array(z.string()))).toEqual(['String']);
  expect(typeOf('metadata', z.record(z.string(), z.unknown()).nullish())).toBe('JSON');
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
