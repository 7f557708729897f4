import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { repository } from './runner.ts';

/**
 * Counts what a capability costs that is declared once (docs/decisions/0127): the files that name a field between the table and the dashboard,
 * those that name an operation, and the lines of the rooms whose routes, types and tools are made from declarations.
 */

/** Rooms that shrink as more is declared. */
const ROOMS = ['gateway/rest', 'schema/graphql', 'gateway/mcp'];

/** Where a field or an operation can be named, apart from tests, docs and generated files. */
const SOURCES = ['core', 'db', 'operations', 'actors', 'haraka-plugins', 'schema', 'gateway', 'bin'];
const GENERATED = ['gateway/dashboard/graphql-env.d.ts', 'bin/cli/capability-commands.ts'];

/** Fields of declared resources whose names nothing else has. */
const FIELDS = ['maxMessages', 'lastTriggeredAt', 'lastUsedFrom', 'omitsBodies'];

/** Operations that capabilities declare. */
const OPERATIONS = ['revokeReplyAddress', 'suppressAddress', 'checkGuardRule', 'rotateDkimKey', 'removeImageSender'];

/** Returns how many lines the sources of the rooms have. */
export function countRoomLines(): number {
  return ROOMS.flatMap(listSources).reduce((sum, file) => sum + readLines(file).length, 0);
}

/** Returns, by field, how many files name it. */
export function countFieldFiles(): Record<string, number> {
  return countFiles(FIELDS, (name) => new RegExp(`\\b(?:${name}|${snakeCase(name)})\\b`));
}

/** Returns, by operation, how many files name its function. */
export function countOperationFiles(): Record<string, number> {
  return countFiles(OPERATIONS, (name) => new RegExp(`\\b${name}\\b`));
}

function countFiles(names: readonly string[], patternFor: (name: string) => RegExp): Record<string, number> {
  const files = SOURCES.flatMap(listSources).map((file) => readFileSync(path.join(repository, file), 'utf8'));
  return Object.fromEntries(
    names.map((name) => {
      const pattern = patternFor(name);
      return [name, files.filter((text) => pattern.test(text)).length];
    }),
  );
}

function listSources(folder: string): string[] {
  return readdirSync(path.join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|tsx|sql)$/.test(name) && !name.includes('node_modules') && !name.includes('dist/'))
    .map((name) => path.posix.join(folder, name))
    .filter((file) => !GENERATED.includes(file));
}

function readLines(file: string): string[] {
  return readFileSync(path.join(repository, file), 'utf8').trimEnd().split('\n');
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

if (import.meta.main)
  process.stdout.write(
    `${JSON.stringify({ roomLines: countRoomLines(), fields: countFieldFiles(), operations: countOperationFiles() }, null, 2)}\n`,
  );
