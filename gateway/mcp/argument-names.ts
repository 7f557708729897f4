import type { z } from 'zod';
import { countErrors } from '../../core/search/near-words.ts';
import type { UserError } from '../../core/shared/errors.ts';
import { IDENTIFIER_KINDS, identifierNoun, identifierPrefix, isIdentifier } from '../../core/shared/identifiers.ts';
import { isRecord } from '../../core/shared/is-record.ts';
import { snakeCase } from '../../core/shared/word-case.ts';
import { invalidInput } from '../../schema/input-shapes.ts';
import { shortText } from './bounded-text.ts';

/**
 * Checks the arguments of a tool. Throws validation: for an unknown argument with the name that was probably meant, and not once more for the
 * required argument that is missing because of it.
 */
export function checkArguments<Shape extends z.ZodObject>(shape: Shape, given: unknown): z.output<Shape> {
  const { success, data, error } = shape.safeParse(omitNulls(shape, given));
  if (success) return data;
  const known = Object.keys(shape.shape);
  const free = known.filter((name) => !isRecord(given) || !Object.hasOwn(given, name));
  const unknown = error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : [],
  );
  const meant = new Map(unknown.map((name) => [name, findMeant(name, free)]));
  const suggested = new Set(meant.values());
  throw invalidInput([
    ...[...meant].map(([name, other]) => ({ field: '', message: describeUnknown('argument', name, known, other) })),
    ...error.issues.flatMap(({ code, path, message }) => {
      if (code === 'unrecognized_keys' && path.length === 0) return [];
      const isNamedWrongly = path.length === 1 && suggested.has(String(path[0])) && free.includes(String(path[0]));
      return isNamedWrongly ? [] : [{ field: path.map(String).join('.'), message }];
    }),
  ]);
}

/** Returns what to say of a name that does not exist: the one that was probably meant, or all. */
export function describeUnknown(
  noun: 'argument' | 'tool',
  name: string,
  known: readonly string[],
  meant = findMeant(name, known),
): string {
  const names = known.map((each) => `\`${each}\``).join(', ');
  const all = names === '' ? `It takes no ${noun}s.` : `The ${noun}s are ${names}.`;
  return `There is no ${noun} \`${shortText(name, MAX_NAME)}\`. ${meant === null ? all : `Did you mean \`${meant}\`?`}`;
}

/** Returns the arguments without null where it would be refused and nothing has to be given: models write it for what they leave out. */
function omitNulls({ shape }: z.ZodObject, given: unknown): unknown {
  if (!isRecord(given)) return given;
  const fields = new Map(Object.entries(shape) as [string, z.ZodType][]);
  const isLeftOut = (field?: z.ZodType) =>
    field?.safeParse(null).success === false && field.safeParse(undefined).success;
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => value !== null || !isLeftOut(fields.get(name))),
  );
}

/** Returns what to say of an ID that was not found because it is of another kind, such as that of the thread of an email; null: it is not. */
export function findOtherKind(given: object, { code, message }: UserError): string | null {
  if (code !== 'not_found') return null;
  for (const [name, value] of Object.entries(given)) {
    const wanted = IDENTIFIER_KINDS.find((kind) => new RegExp(`(?:^|_)${snakeCase(kind)}_ids?$`).test(name));
    const prefix = wanted === undefined ? '' : `${identifierPrefix(wanted)}_`;
    const id = ([value].flat() as unknown[]).find((each) => typeof each === 'string' && !each.startsWith(prefix));
    const kind = IDENTIFIER_KINDS.find((each) => isIdentifier(each, String(id)));
    if (id === undefined || (kind !== undefined && message.toLowerCase().includes(identifierNoun(kind)))) continue;
    return `\`${name}\` takes an ID that begins with \`${prefix}\`.`;
  }
  return null;
}

/** Returns the free argument that a wrong name means; null if none is likely. */
function findMeant(name: string, free: readonly string[]): string | null {
  const wanted = words(name);
  const joined = wanted.join('');
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
  const most = Math.max(1, Math.floor(joined.length / 4));
  const near = free.flatMap((each) => {
    const errors = countErrors(joined, words(each).join(''), most);
    return errors === null ? [] : [{ each, errors }];
  });
  return near.toSorted((a, b) => a.errors - b.errors)[0]?.each ?? null;
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
  // Operators of the search language.
  ...Object.fromEntries(['from', 'to', 'subject', 'label', 'before', 'hasattachment'].map((name) => [name, 'search'])),
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
