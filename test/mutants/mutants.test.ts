import { access, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { applyMutant, readMutants } from './mutants.ts';

test('every defect of the list can be applied, and names a test', async () => {
  const mutants = await readMutants();
  expect(mutants.length).toBeGreaterThanOrEqual(60);
  for (const mutant of mutants) {
    const text = await readFile(mutant.path, 'utf8');
    expect(applyMutant(text, mutant)).not.toBe(text);
    await access(mutant.test);
  }
});

test('a defect whose text is gone, or occurs twice, is an error', () => {
  const mutant = { path: 'a.ts', search: 'b', replace: 'c', test: 'a.test.ts' };
  expect(() => applyMutant('a', mutant)).toThrow('a.ts: "b" occurs 0 times');
  expect(() => applyMutant('b b', mutant)).toThrow('a.ts: "b" occurs 2 times');
});
