import type { z } from 'zod';
import { invalidInput } from '../../schema/input-shapes.ts';
import { shortText } from './bounded-text.ts';

/**
 * Checks the arguments of a tool. Throws validation: for an unknown argument with the name that was probably meant, and not once more for the
 * required argument that is missing because of it.
 */
export function checkArguments<Shape extends z.ZodObject>(shape: Shape, given: unknown): z.output<Shape> {
  const { success, data, error } = shape.safeParse(given);
  if (success) return data;
  const known = Object.keys(shape.shape);
  const used = typeof given === 'object' && given !== null ? Object.keys(given) : [];
  const free = known.filter((name) => !used.includes(name));
  const unknown = error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : [],
  );
  const meant = new Map(unknown.map((name) => [name, findMeant(name, free)]));
  const suggested = new Set(meant.values());
  throw invalidInput([
    ...[...meant].map(([name, other]) => ({
      field: '',
      message: `There is no argument \`${shortText(name, MAX_NAME)}\`. ${
        other === null
          ? `The arguments are ${known.map((each) => `\`${each}\``).join(', ')}.`
          : `Did you mean \`${other}\`?`
      }`,
    })),
    ...error.issues.flatMap(({ code, path, message }) => {
      if (code === 'unrecognized_keys' && path.length === 0) return [];
      const isNamedWrongly = path.length === 1 && suggested.has(String(path[0])) && free.includes(String(path[0]));
      return isNamedWrongly ? [] : [{ field: path.map(String).join('.'), message }];
    }),
  ]);
}

/** Returns the free argument that a wrong name means; null if none is likely. */
function findMeant(name: string, free: readonly string[]): string | null {
  const wanted = words(name);
  const joined = wanted.join('');
  const same = free.find((each) => words(each).join('') === joined);
  if (same !== undefined) return same;
  // `id` means the only ID; `mail_id` and `message_id` for `email_id`.
  const isId = wanted.at(-1) === 'id' || wanted.at(-1) === 'ids';
  const ids = free.filter((each) => /_ids?$/.test(each));
  if (isId && (ids.length === 1 || wanted.length === 1)) return ids[0] ?? null;
  const synonym = SYNONYMS[joined];
  if (synonym !== undefined && free.includes(synonym)) return synonym;
  const contained = free.filter(
    (each) => words(each).join('').includes(joined) || joined.includes(words(each).join('')),
  );
  if (contained.length === 1 && joined.length > 2) return contained[0] ?? null;
  const [nearest] = free
    .map((each) => ({ each, distance: editDistance(joined, words(each).join('')) }))
    .toSorted((a, b) => a.distance - b.distance);
  return nearest !== undefined && nearest.distance <= Math.max(1, Math.floor(joined.length / 4)) ? nearest.each : null;
}

/** What programs call arguments elsewhere. */
const SYNONYMS: Readonly<Record<string, string>> = {
  query: 'search',
  q: 'search',
  filter: 'search',
  body: 'text',
  content: 'text',
  message: 'text',
  plaintext: 'text',
  recipient: 'to',
  recipients: 'to',
  sender: 'from',
  sendat: 'scheduled_at',
  count: 'limit',
  pagesize: 'limit',
  page: 'cursor',
  after: 'cursor',
  token: 'claim_token',
  key: 'idempotency_key',
  seconds: 'ttl',
  timeoutseconds: 'timeout',
  attachmentindex: 'index',
  labels: 'add_labels',
};

/** Returns the words of a name in snake or camel case. */
function words(name: string): string[] {
  return name
    .slice(0, MAX_NAME)
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

/** Characters of a name that count. */
const MAX_NAME = 40;

/** Returns how many letters must be added, removed or replaced. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of Array.from(one).entries()) {
    const next = [at + 1];
    for (const [position, wanted] of Array.from(other).entries())
      next.push(
        Math.min(
          (next[position] ?? 0) + 1,
          (row[position + 1] ?? 0) + 1,
          (row[position] ?? 0) + (letter === wanted ? 0 : 1),
        ),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}
