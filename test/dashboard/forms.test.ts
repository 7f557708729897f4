import { readFileSync } from 'node:fs';
import path from 'node:path';
import { buildSchema, type DocumentNode, parse, print, validate } from 'graphql';
import { expect, test } from 'vitest';
import { connection, mutation, record } from '../../gateway/dashboard/graphql.ts';
import { hasNoCriteria, readValues } from '../../gateway/dashboard/pages/rules/rule-values.ts';
import { askForRefusal, formErrors } from '../../gateway/dashboard/parts/refusal.ts';
import { repository } from '../support/runner.ts';

const message = 'Validation failed';
const schema = buildSchema(readFileSync(path.join(repository, 'schema.graphql'), 'utf8'));

test.each([
  ['an error of its own field only at the field', { name: 'is too long' }, { name: 'is too long' }],
  ['the message where no field has an error', {}, { problem: 'Validation failed' }],
  [
    'the message for an error of no field of it',
    { config: 'must have at least one of subject' },
    { problem: 'Validation failed' },
  ],
  [
    'both when some errors have a field and some none',
    { name: 'is too long', config: 'must have at least one of subject' },
    { name: 'is too long', problem: 'Validation failed' },
  ],
])('a form shows %s', (_, fields, shown) => {
  expect(formErrors({ message, fields }, { name: '', url: '' })).toEqual(shown);
});

test('a rule has criteria when one of its lists has a value or an attachment is asked for', () => {
  const values = readValues(null);
  expect(hasNoCriteria(values)).toBe(true);
  expect(hasNoCriteria({ ...values, subject: ['pills'] })).toBe(false);
  expect(hasNoCriteria({ ...values, hasAttachment: 'no' })).toBe(false);
  expect(hasNoCriteria({ ...values, dmarc: ['FAIL'] })).toBe(false);
});

test('a mutation asks for the errors of its root field, and is declared by its name and what is read of its payload', () => {
  const declared = mutation('suppressAddress', 'suppression { id }');
  const asked = askForRefusal(declared);
  const text = JSON.stringify(asked);
  expect(validate(schema, JSON.parse(text))).toEqual([]);
  expect(text).toContain('RefusalParts');
  expect(print(JSON.parse(text))).toMatch(/\.\.\.RefusalParts\s+\}\s+\}\s+fragment RefusalParts on Error/);
  expect(askForRefusal(declared)).toBe(asked);
});

test.each([
  [
    'a record by its root field, which takes an ID',
    record('email { id subject }'),
    'query email($id: ID!) { email(id: $id) { id subject } }',
  ],
  [
    'a list by its root field, which takes a page',
    connection('domains { id }'),
    'query domains($first: Int!, $after: String) { domains(first: $first, after: $after) { edges { cursor node { id } } pageInfo { hasNextPage endCursor } } }',
  ],
  [
    'a list with variables, which are passed as arguments of the same names',
    connection('emails($filter: EmailFilter, $search: String) { id }'),
    'query emails($first: Int!, $after: String, $filter: EmailFilter, $search: String) { emails(first: $first, after: $after, filter: $filter, search: $search) { edges { cursor node { id } } pageInfo { hasNextPage endCursor } } }',
  ],
])('a document reads %s', (_, document, text) => {
  const declared: unknown = document;
  expect(print(declared as DocumentNode)).toBe(print(parse(text)));
  expect(validate(schema, declared as DocumentNode)).toEqual([]);
});
