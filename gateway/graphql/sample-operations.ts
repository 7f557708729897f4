import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A published operation: a tab of the explorer, an example in the guide, and a persisted operation. */
export interface SampleOperation {
  /** file name without its number and extension */
  name: string;
  /** GraphQL source of the file */
  text: string;
  /** SHA-256 of the text in hex, which clients of persisted operations send */
  sha256: string;
  /** sample variables as JSON text; null if it takes none */
  variables: string | null;
}

const directory = path.resolve(import.meta.dirname, '../../schema/graphql/operations');

/** Reads the published operations and their variables, sorted by number. */
export function readSampleOperations(): SampleOperation[] {
  const files = readdirSync(directory).toSorted();
  return files
    .filter((file) => file.endsWith('.graphql'))
    .map((file) => {
      const text = readFileSync(path.join(directory, file), 'utf8');
      const variables = file.replace(/\.graphql$/, '.json');
      return {
        name: file.replace(/^\d+-|\.graphql$/g, ''),
        text,
        sha256: hash('sha256', text, 'hex'),
        variables: files.includes(variables) ? readFileSync(path.join(directory, variables), 'utf8') : null,
      };
    });
}
