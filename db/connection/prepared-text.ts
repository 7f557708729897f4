import { hash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';

/** The beginning of a composed statement that each connection plans once. Only for texts of few shapes, whose values are parameters. */
const PREPARED = '/* prepared */ ';

/** Returns the statement, to be planned once by each connection. */
export function prepared<Row>(statement: RawBuilder<Row>): RawBuilder<Row> {
  return sql<Row>`${sql.raw(PREPARED)}${statement}`;
}

/** Like prepared, for the text of a statement. */
export function preparedText(text: string): string {
  return `${PREPARED}${text}`;
}

/** Names by texts: they are few, because values are parameters. */
const names = new Map<string, string>();
/** More texts than there are shapes; from then on, statements are planned each time. */
const MAX_NAMES = 500;

/** Returns what pg sends for the text of a statement: with a name if it is prepared. */
export function namedStatement(
  text: string,
  values: readonly unknown[],
): { name?: string; text: string; values: unknown[] } {
  const statement = { text, values: [...values] };
  if (!text.startsWith(PREPARED)) return statement;
  let name = names.get(text);
  if (name === undefined) {
    if (names.size >= MAX_NAMES) return statement;
    names.set(text, (name = `composed ${hash('sha256', text).slice(0, 40)}`));
  }
  return { name, ...statement };
}
