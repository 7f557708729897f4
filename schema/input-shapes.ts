import { z } from 'zod';
import { UserError } from '../core/shared/errors.ts';

/** Number of errors that one response lists. */
const MAX_DETAILS = 20;
/** Characters of each: both can repeat names of the input. Lists of allowed values are shorter. */
const MAX_FIELD = 200;
const MAX_MESSAGE = 3_000;

/** The search syntax, for descriptions of arguments. */
export const SEARCH_SYNTAX =
  'Words, "phrases" and operators, all of which must match one email: from: to: subject: domain: label: before: after: has:attachment is:unread is:read is:archived in:inbox in:archive in:sent in:received in:scheduled. A minus before a term excludes it. Words match the start of a word in the subject, sender, recipients or body.';

// What zod says of these without words of our own does not lead to what is allowed.
z.config({ customError: describeIssue });

function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') return describeKinds([issue.expected], issue.input);
  if (issue.code === 'invalid_format' && issue.format === 'datetime')
    return 'Invalid time. Use ISO 8601 with a time zone, such as 2026-03-01T09:30:00Z';
  if (issue.code === 'too_big') return describeBound(issue.origin, 'at most', issue.maximum, issue.inclusive);
  if (issue.code === 'too_small') return describeBound(issue.origin, 'at least', issue.minimum, issue.inclusive);
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return undefined;
  const branches = issue.errors.flatMap(([first]) => first ?? []);
  // The nearest branch accepts the kind of the value and refuses something in it.
  const near = branches.find(({ code, path }) => code !== 'invalid_type' || path.length > 0);
  if (near !== undefined) return near.path.length === 0 ? near.message : `${near.path.join('.')}: ${near.message}`;
  return describeKinds(
    branches.flatMap((each) => (each.code === 'invalid_type' ? each.expected : [])),
    issue.input,
  );
}

/** Returns what to say of a value of another kind, or of none. */
function describeKinds(expected: readonly string[], given: unknown): string {
  const kinds = [...new Set(expected.map((kind) => KINDS[kind] ?? kind))].join(' or ');
  const received = z.core.util.parsedType(given);
  if (given === undefined) return `Missing: expected ${kinds}`;
  return `Invalid input: expected ${kinds}, received ${KINDS[received] ?? received}`;
}

/** Returns what to say of a number, or of the length of another value, outside its bound. */
function describeBound(origin: string, side: string, bound: number | bigint, isInclusive = true): string {
  const noun = { string: 'character', array: 'item', set: 'item', file: 'byte' }[origin];
  if (noun !== undefined) return `Must have ${side} ${bound} ${noun}${Number(bound) === 1 ? '' : 's'}`;
  const than = side === 'at most' ? 'less than' : 'greater than';
  return `Must be ${isInclusive ? side : than} ${bound}`;
}

/** What JSON calls the kinds of zod. */
const KINDS: Readonly<Record<string, string>> = { record: 'object', int: 'integer', nan: 'NaN' };

/**
 * Parses an input. Throws validation with the path and the message of each error, the same in REST and GraphQL, which share their input
 * shapes.
 */
export function parseInput<Shape extends z.ZodType>(shape: Shape, input: unknown): z.output<Shape> {
  const { success, data, error } = shape.safeParse(input);
  if (success) return data;
  throw invalidInput(error.issues.map(({ path, message }) => ({ field: path.map(String).join('.'), message })));
}

/** Returns the error of an input that does not have the required shape. */
export function invalidInput(details: readonly { field: string; message: string }[]): UserError {
  return new UserError('validation', 'Validation failed. Check your request parameters.', {
    title: 'Bad Request',
    details: details
      .slice(0, MAX_DETAILS)
      .map(({ field, message }) => ({ field: shorten(field, MAX_FIELD), message: shorten(message, MAX_MESSAGE) })),
  });
}

function shorten(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}…`;
}

/** The emails of a batch; each is validated on its own. */
export const batchEmails = <Email extends z.ZodType>(email: Email) => z.array(email).min(1).max(MAX_EMAILS);
const MAX_EMAILS = 100;

/** Maximum entries of one field: far above what any field allows, far below what fits into a large body. */
const MAX_ENTRIES = 200;

/**
 * Throws validation when a field has too many entries. Call it before a body is validated, which takes seconds for a million entries.
 * `path` is prepended to the names of fields.
 */
export function limitEntries(body: unknown, path = ''): void {
  if (typeof body !== 'object' || body === null) return;
  for (const [field, value] of Object.entries<unknown>(body as Record<string, unknown>)) {
    if (typeof value === 'object' && value !== null && Object.keys(value).length > MAX_ENTRIES)
      throw tooManyEntries(field, path);
  }
}

function tooManyEntries(field: string, path: string): UserError {
  const message = `${field} cannot have more than ${MAX_ENTRIES} entries`;
  return new UserError('validation', message, { details: [{ field: path + field, message }] });
}
