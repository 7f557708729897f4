import { readFileSync } from 'node:fs';
import path from 'node:path';
import { buildSchema, type DocumentNode, validate } from 'graphql';
import { expect, test } from 'vitest';
import { repository } from '../support/runner.ts';
import { readDocuments } from '../support/stages/dashboard-documents.ts';

const schema = buildSchema(readFileSync(path.join(repository, 'schema.graphql'), 'utf8'));
const listProblems = (document: DocumentNode) => validate(schema, document).map(({ message }) => message);

test('every document of the dashboard asks for fields that schema.graphql has', () => {
  const documents = readDocuments();
  expect(documents.filter(({ kind }) => kind === 'mutation').length).toBeGreaterThan(80);
  expect(documents.filter(({ kind }) => kind === 'graphql').length).toBeGreaterThan(50);
  expect(documents.filter(({ kind }) => kind === 'record').length).toBeGreaterThan(20);
  expect(documents.filter(({ kind }) => kind === 'connection').length).toBeGreaterThan(12);
  const faults = documents.flatMap(({ where, document }) => listProblems(document).map((why) => `${where}: ${why}`));
  expect(faults).toEqual([]);
});
