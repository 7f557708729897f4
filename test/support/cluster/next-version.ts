import { cp, glob, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { repository } from '../runner.ts';

/** A version of the product that is still to come, as it differs from the one before it. */
export interface NextVersion {
  version: string;
  migrations: readonly NextMigration[];
  changes?: readonly SourceChange[];
}

/** A migration that a later version has; see db/migrations/list.ts. */
interface NextMigration {
  name: string;
  statements: readonly string[];
  /** each statement by itself */
  isApart?: true;
  needs?: string;
}

/** One place of the code; `from` stands in the file exactly once. */
interface SourceChange {
  file: string;
  from: string;
  to: string;
}

/**
 * Makes the folder with the code of that version: a copy of what `before` runs from, with its changes; packages are those of this
 * repository. It is a copy, since Node strips no types under node_modules. Throws when a change finds not its place.
 */
export async function makeVersion(folder: string, next: NextVersion, before = repository): Promise<void> {
  await mkdir(folder, { recursive: true });
  for await (const name of glob(await productFiles(), { cwd: before }))
    await cp(path.join(before, name), path.join(folder, name), { recursive: true });
  await symlink(path.join(repository, 'node_modules'), path.join(folder, 'node_modules'));
  const manifest = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ ...manifest, version: next.version }));
  for (const migration of next.migrations)
    await writeFile(path.join(folder, 'db/migrations', `${migration.name}.ts`), makeCode(migration));
  for (const change of [...listing(next.migrations), ...(next.changes ?? [])]) await apply(folder, change);
}

/** Patterns of what an image of the product has, by .dockerignore. */
async function productFiles(): Promise<string[]> {
  const rules = await readFile(path.join(repository, '.dockerignore'), 'utf8');
  return [...rules.matchAll(/^!(\S+)$/gm)].map(([, name = '']) => name);
}

function makeCode({ statements, isApart }: NextMigration): string {
  return `import { Migration } from '@mikro-orm/migrations';

export class Step extends Migration {
  override up(): void {
    for (const statement of ${JSON.stringify(statements, null, 2)}) this.addSql(statement);
  }
  override isTransactional(): boolean {
    return ${isApart !== true};
  }
}
`;
}

const IMPORTED = "import { migrationNames } from './names.ts';";
const LISTED = "Omit<SchemaMigration, 'name'>> = {";

/** The places in which a migration is made known. */
function listing(migrations: readonly NextMigration[]): SourceChange[] {
  const list = 'db/migrations/list.ts';
  return migrations.flatMap(({ name, needs }) => {
    const step = `Step${name.slice(0, name.indexOf('-'))}`;
    const words = needs === undefined ? '' : `, needs: '${needs}'`;
    return [
      { file: 'db/migrations/names.ts', from: '] as const', to: `, '${name}'] as const` },
      { file: list, from: IMPORTED, to: `${IMPORTED}\nimport { Step as ${step} } from './${name}.ts';` },
      { file: list, from: LISTED, to: `${LISTED}\n  '${name}': { class: ${step}${words} },` },
    ];
  });
}

async function apply(folder: string, { file, from, to }: SourceChange): Promise<void> {
  const place = path.join(folder, file);
  const [before = '', after, ...more] = (await readFile(place, 'utf8')).split(from);
  if (after === undefined || more.length > 0) throw new Error(`${file} has not one place: ${from}`);
  await writeFile(place, before + to + after);
}
