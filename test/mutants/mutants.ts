import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

/** A small defect that a test must notice. */
export interface Mutant {
  /** the source file, from the root of the repository */
  path: string;
  /** occurs once in the file */
  search: string;
  replace: string;
  /** the test file that must fail */
  test: string;
}

const mutant = z.strictObject({ path: z.string(), search: z.string(), replace: z.string(), test: z.string() });

/** Returns the defects of mutants.jsonl, one per line. Throws when a line is invalid. */
export async function readMutants(): Promise<Mutant[]> {
  const text = await readFile(path.join(import.meta.dirname, 'mutants.jsonl'), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => mutant.parse(JSON.parse(line)));
}

/** Returns the text with the defect. Throws when the text to replace does not occur exactly once. */
export function applyMutant(text: string, { path: file, search, replace }: Mutant): string {
  const parts = text.split(search);
  if (parts.length !== 2)
    throw new Error(
      `${file}: ${JSON.stringify(search)} occurs ${parts.length - 1} times. Change test/mutants/mutants.jsonl`,
    );
  return parts.join(replace);
}
