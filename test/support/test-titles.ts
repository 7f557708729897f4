import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAst } from 'vite';
import { repository } from './runner.ts';
import { isTestFile } from './test-files.ts';

/** A title of a test or group as written in the source, with the titles of the groups around it. */
export interface TestTitle {
  file: string;
  line: number;
  title: string;
  groups: string[];
  isGroup: boolean;
  /** the first text of each row of `test.each([…])`, which fills the first placeholder; empty when the table is not literal */
  rows: string[];
}

interface Syntax {
  type: string;
  start: number;
  [key: string]: unknown;
}

const TESTS = new Set(['test', 'it']);
const GROUPS = new Set(['describe']);

/** Returns the titles of all tests and groups below `test/`; a part of a template that is computed is `…`. */
export function readTestTitles(): TestTitle[] {
  return testFiles('test').flatMap((file) => {
    const source = readFileSync(path.join(repository, file), 'utf8');
    const found: TestTitle[] = [];
    visit(parseAst(source, { lang: 'ts' }), []);
    return found;

    function visit(node: unknown, groups: string[]): void {
      if (Array.isArray(node)) for (const item of node) visit(item, groups);
      if (!isSyntax(node)) return;
      const kind = kindOfCall(node);
      const title = kind === undefined ? undefined : readTitle(node['arguments']);
      if (kind !== undefined && title !== undefined) {
        const line = source.slice(0, node.start).split('\n').length;
        found.push({ file, line, title, groups, isGroup: kind === 'group', rows: readRows(node['callee']) });
      }
      const inside = kind === 'group' && title !== undefined ? [...groups, title] : groups;
      for (const value of Object.values(node)) visit(value, inside);
    }
  });
}

function testFiles(folder: string): string[] {
  return readdirSync(path.join(repository, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return testFiles(name);
    return isTestFile(entry.name) ? [name] : [];
  });
}

/** Returns what a call declares: `test('…')`, `test.each(rows)('…')`, `describe.skipIf(condition)('…')` and so on. */
function kindOfCall(node: Syntax): 'test' | 'group' | undefined {
  if (node.type !== 'CallExpression') return undefined;
  let callee = node['callee'];
  while (isSyntax(callee) && callee.type !== 'Identifier') {
    callee =
      callee.type === 'MemberExpression'
        ? callee['object']
        : callee.type === 'CallExpression'
          ? callee['callee']
          : undefined;
  }
  if (!isSyntax(callee)) return undefined;
  if (TESTS.has(String(callee['name']))) return 'test';
  return GROUPS.has(String(callee['name'])) ? 'group' : undefined;
}

function readTitle(given: unknown): string | undefined {
  const [first] = Array.isArray(given) ? given : [];
  if (!isSyntax(first)) return undefined;
  if (first.type === 'Literal' && typeof first['value'] === 'string') return first['value'];
  if (first.type !== 'TemplateLiteral' || !Array.isArray(first['quasis'])) return undefined;
  return first['quasis'].map((part: { value: { cooked: string } }) => part.value.cooked).join('…');
}

/** Returns the first text of each row of `test.each([…])`. */
function readRows(callee: unknown): string[] {
  const [table] = isSyntax(callee) && Array.isArray(callee['arguments']) ? callee['arguments'] : [];
  const rows = isSyntax(table) && Array.isArray(table['elements']) ? table['elements'] : [];
  return rows.flatMap((row) => {
    const [cell] = isSyntax(row) && Array.isArray(row['elements']) ? row['elements'] : [row];
    return isSyntax(cell) && typeof cell['value'] === 'string' ? [cell['value']] : [];
  });
}

function isSyntax(value: unknown): value is Syntax {
  return typeof value === 'object' && value !== null && 'type' in value;
}
