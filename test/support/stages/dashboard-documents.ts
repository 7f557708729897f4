import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { DocumentNode } from 'graphql';
import { type ESTree, parseSync, Visitor } from 'vite';
import { connection, graphql, mutation, record } from '../../../gateway/dashboard/graphql.ts';
import { askForRefusal } from '../../../gateway/dashboard/parts/refusal.ts';
import { repository } from '../runner.ts';

/** A document as the dashboard sends it. */
interface DashboardDocument {
  /** file and line of its declaration */
  where: string;
  /** the function that makes it */
  kind: keyof typeof MAKERS;
  document: DocumentNode;
}

/** What documents are declared with in a file. */
interface Source {
  file: string;
  text: string;
  /** initial values of constants, by name */
  constants: Map<string, ESTree.Node>;
  /** file and name of what is imported, by its name here */
  imports: Map<string, { file: string; name: string }>;
  calls: ESTree.CallExpression[];
}

const ROOT = path.join(repository, 'gateway/dashboard');

/** The functions that make a document of a text; `mutation` makes it of two. */
const MAKERS = { graphql, mutation, record, connection };

/**
 * Returns every document that the dashboard declares, as the functions of graphql.ts make it of the texts in its sources: importing its pages
 * would need a browser. Those of mutations ask for what an error says, too. Throws for a declaration that is not a text.
 */
export function readDocuments(): DashboardDocument[] {
  const files = globSync('**/*.{ts,tsx}', { cwd: ROOT }).filter(
    (name) => name !== 'graphql.ts' && !name.endsWith('.d.ts'),
  );
  const sources = new Map(files.map((name) => [path.join(ROOT, name), readSource(path.join(ROOT, name))]));
  return [...sources.values()].flatMap((source) =>
    source.calls.flatMap((call) => {
      const document = makeDocument(call, source, sources);
      const isFragment = document.definitions[0]?.kind === 'FragmentDefinition';
      const kind = (call.callee as { name: DashboardDocument['kind'] }).name;
      return isFragment ? [] : [{ where: locate(source, call), kind, document }];
    }),
  );
}

function readSource(file: string): Source {
  const text = readFileSync(file, 'utf8');
  const source: Source = { file, text, constants: new Map(), imports: new Map(), calls: [] };
  new Visitor({
    ImportDeclaration({ source: from, specifiers }) {
      for (const { type, local, ...specifier } of specifiers)
        if (type === 'ImportSpecifier' && 'imported' in specifier && 'name' in specifier.imported)
          source.imports.set(local.name, {
            file: path.resolve(path.dirname(file), from.value),
            name: specifier.imported.name,
          });
    },
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && init !== null) source.constants.set(id.name, init);
    },
    CallExpression(call) {
      const { callee } = call;
      if (callee.type === 'Identifier' && callee.name in MAKERS && source.imports.has(callee.name))
        source.calls.push(call);
    },
  }).visit(parseSync(file, text).program);
  return source;
}

/** Returns the document of a call of one of them. */
function makeDocument(call: ESTree.Node, source: Source, sources: ReadonlyMap<string, Source>): DocumentNode {
  if (call.type !== 'CallExpression' || call.callee.type !== 'Identifier')
    throw new Error(`${locate(source, call)} is no document`);
  const isMutation = call.callee.name === 'mutation';
  const given = [...call.arguments];
  const texts = given.splice(0, isMutation ? 2 : 1).map((argument) => readText(argument, source));
  const [list] = given;
  if (list !== undefined && list.type !== 'ArrayExpression')
    throw new Error(`${locate(source, list)} is no list of fragments`);
  const fragments = (list?.elements ?? []).map((element) => {
    if (element?.type !== 'Identifier') throw new Error(`${locate(source, call)} has a fragment without a name`);
    return findFragment(element.name, source, sources);
  });
  const [first = '', second = ''] = texts;
  if (isMutation) return askForRefusal(mutation(first, second, fragments as never) as never);
  const make = MAKERS[call.callee.name as 'graphql'] as (text: string, fragments: DocumentNode[]) => DocumentNode;
  return make(first, fragments);
}

function findFragment(name: string, source: Source, sources: ReadonlyMap<string, Source>): DocumentNode {
  const imported = source.imports.get(name);
  const declaring = imported === undefined ? source : sources.get(imported.file);
  const declared = declaring?.constants.get(imported?.name ?? name);
  if (declaring === undefined || declared === undefined)
    throw new Error(`The fragment ${name} of ${source.file} is declared nowhere`);
  return makeDocument(declared, declaring, sources);
}

/** Returns the value of a text, or of a constant that is one. */
function readText(node: ESTree.Node | undefined, source: Source): string {
  if (node?.type === 'Identifier') return readText(source.constants.get(node.name), source);
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0]?.value.cooked ?? '';
  throw new Error(`A document in ${source.file} is not declared by a text`);
}

function locate({ file, text }: Source, { start }: ESTree.Node): string {
  return `${path.relative(repository, file)}:${text.slice(0, start).split('\n').length}`;
}
