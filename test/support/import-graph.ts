import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { repository } from './runner.ts';

const FOLDERS = ['core', 'schema', 'db', 'operations', 'actors', 'gateway', 'haraka-plugins', 'bin'];
/** Files that a process starts with: the programs, the parts that `bin/start.ts` starts, and the web application. */
const ENTRIES = /^bin\/[^/]+\.ts$|^bin\/runner\/parts\/|^gateway\/dashboard\/main\.tsx$/;

/** The sources by their path from the root of the repository. A file imports what it names in quotes, also on demand or as a worker's program. */
export interface ImportGraph {
  text(file: string): string;
  /** Returns the sources that import this one. */
  importers(file: string): readonly string[];
  /** Returns all sources that are loaded when these are, themselves included. */
  reached(from: readonly string[]): ReadonlySet<string>;
  entries: readonly string[];
  files: readonly string[];
}

export function readImportGraph(): ImportGraph {
  const texts = new Map(
    FOLDERS.flatMap((folder) =>
      readdirSync(path.join(repository, folder), { recursive: true, encoding: 'utf8' })
        .map((name) => path.posix.join(folder, name.replaceAll(path.sep, '/')))
        .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules') && !name.includes('/dist/'))
        .map((name) => [name, readFileSync(path.join(repository, name), 'utf8')] as const),
    ),
  );
  const imports = new Map(
    [...texts].map(([file, text]) => {
      const named = [...text.matchAll(/'(\.{1,2}\/[^'\n]+\.tsx?)'/g)].map(([, name = '']) =>
        path.posix.join(path.posix.dirname(file), name),
      );
      return [file, [...new Set(named)].filter((name) => texts.has(name))] as const;
    }),
  );
  const importers = Map.groupBy(
    [...imports].flatMap(([file, names]) => names.map((name) => ({ file, name }))),
    ({ name }) => name,
  );
  return {
    text: (file) => texts.get(file) ?? '',
    importers: (file) => (importers.get(file) ?? []).map((each) => each.file),
    reached(from) {
      const found = new Set(from);
      for (const file of found) for (const name of imports.get(file) ?? []) found.add(name);
      return found;
    },
    entries: [...texts.keys()].filter((name) => ENTRIES.test(name)),
    files: [...texts.keys()],
  };
}
