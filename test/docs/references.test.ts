import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { IDENTIFIER_KINDS, identifierPrefix } from '../../core/shared/identifiers.ts';
import { repository } from '../support/runner.ts';

const SKIPPED = new Set(['node_modules', 'dist', 'data', '.git', 'corpus']);
const TEXT =
  /\.(ts|tsx|js|mjs|md|sql|ya?ml|json|toml|sh|py|conf|cfg|css|html|graphql|ini)$|^(Dockerfile|\.env\.example)$/;

/** All text files of the repository except this one, whose samples are meant to be missing. */
const files = textFiles('').filter((name) => name !== 'test/docs/references.test.ts');
const documents = new Set(files.filter((name) => name.endsWith('.md')));
const documentNames = new Set([...documents].map((name) => path.basename(name)));
/** The source files by their paths and the ends of these, as a comment may begin at any folder. */
const sources = new Set(
  [
    'test/docs/references.test.ts',
    ...files,
    ...readdirSync(path.join(repository, 'test/corpus')).map((name) => `test/corpus/${name}`),
  ]
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap((name) => name.split('/').map((_, at, parts) => parts.slice(at).join('/'))),
);
const decisions = new Set(
  readdirSync(path.join(repository, 'docs/decisions')).map((name) => Number.parseInt(name, 10)),
);

test('every document that a source, a test or a page names exists', () => {
  expect(documents.size).toBeGreaterThan(50);
  expect(files.flatMap((name) => missingIn(name, readFileSync(path.join(repository, name), 'utf8')))).toEqual([]);
});

test('every source file that a page, a source or a comment of a test names exists', () => {
  expect(sources.size).toBeGreaterThan(1_000);
  expect(files.flatMap((name) => missingSources(name, readFileSync(path.join(repository, name), 'utf8')))).toEqual([]);
});

test('a shown ID begins as the IDs of an object do, or as a secret does', () => {
  const known = new Set([...IDENTIFIER_KINDS.map(identifierPrefix), 'clm', 'whsec']);
  const shown = files
    .filter((name) => /^(?:README|openapi|docs\/|bin\/|core\/|operations\/|gateway\/)/.test(name))
    .flatMap((name) => {
      const text = readFileSync(path.join(repository, name), 'utf8');
      return [...text.matchAll(/\b([a-z]{2,5})_(?:\.\.\.|…|[0-9a-f]{32}\b)/g)].map(([id, prefix = '']) => ({
        name,
        id,
        prefix,
      }));
    });
  expect(shown.length).toBeGreaterThan(200);
  expect(shown.filter(({ prefix }) => !known.has(prefix))).toEqual([]);
});

test('a reference to a missing source file is found', () => {
  const text = ['see core/shared/no-such-rule.ts', '// no-such-rule.ts', 'core/shared/page.ts', 'see page.ts'].join(
    '\n',
  );
  expect(missingSources('core/x.ts', text)).toEqual([
    'core/x.ts:1: core/shared/no-such-rule.ts',
    'core/x.ts:2: no-such-rule.ts',
  ]);
  expect(missingSources('test/x.test.ts', text)).toEqual(['test/x.test.ts:2: no-such-rule.ts']);
});

test('a reference to a missing document or decision is found', () => {
  const text = [
    'see interf' + 'ace.md §3',
    'docs/no-such-page.md',
    'deci' + 'sion 999',
    'wire fa' + 'cts',
    'docs/settings.md',
  ];
  expect(missingIn('core/x.ts', text.join('\n'))).toHaveLength(4);
});

/** Returns the references of a text to documents and decisions that are not in the repository, each with its file and line. */
function missingIn(name: string, text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, at) =>
      [
        ...[...line.matchAll(/[\w-][\w./-]*\.md\b/g)]
          .map(([document]) => document)
          .filter((document) => !exists(name, document)),
        ...[...line.matchAll(/\b(?:decisions?|ADR) 0*(\d+)\b/gi)]
          .filter(([, number]) => !decisions.has(Number(number)))
          .map(([reference]) => reference),
        ...(/\bwire[ -]facts\b/i.exec(line) ?? []),
      ].map((reference) => `${name}:${at + 1}: ${reference}`),
    );
}

/** Returns the references of a text to source files that are not there, by path or by name; of a test, only those in comments. */
function missingSources(name: string, text: string): string[] {
  const isTest = name.startsWith('test/');
  return text
    .split('\n')
    .flatMap((line, at) =>
      isTest && !/^\s*(?:\/\/|\/?\*)/.test(line)
        ? []
        : [...line.matchAll(/(?<![\w./-])[a-z][a-z0-9-]*(?:\/[a-z0-9.-]+)*\.tsx?(?![\w*/])/g)]
            .filter(([file]) => !sources.has(file))
            .map(([file]) => `${name}:${at + 1}: ${file}`),
    );
}

/** Whether a document exists: beside the file, below the root or `docs`, or, for a bare name, anywhere. */
function exists(from: string, document: string): boolean {
  if (!document.includes('/')) return documentNames.has(document);
  return [path.posix.dirname(from), '.', 'docs'].some((folder) => existsSync(path.join(repository, folder, document)));
}

function textFiles(folder: string): string[] {
  return readdirSync(path.join(repository, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : textFiles(name);
    return TEXT.test(entry.name) ? [name] : [];
  });
}
