import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** An operation that we publish: a tab of the explorer, an example of the guide, and known by its hash. */
export interface SampleOperation {
  /** of its file, without the number and the ending */
  name: string;
  /** GraphQL, as the file has it */
  text: string;
  /** hex, of the text, as clients of persisted operations make it */
  sha256: string;
  /** JSON text with variables to begin with; null: it takes none */
  variables: string | null;
}

const directory = path.resolve(import.meta.dirname, '../../schema/graphql/operations');

/** The published operations in the order of their numbers; their variables lie beside them. */
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
