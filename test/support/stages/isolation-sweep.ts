import type { LightMyRequestResponse } from 'fastify';
import type { Holdings } from '../rows/holdings.ts';
import { type FieldPath, type ServedRoute, textFields, withField } from '../rows/route-table.ts';

export interface SweepOptions {
  /** a request of the user whose own holdings are `mine` */
  call: (method: string, path: string, body?: unknown) => Promise<LightMyRequestResponse>;
  mine: Holdings;
  /** of whom nothing may be learnt, and nothing changed */
  theirs: Holdings;
  /** tables in which the other user's rows have changed since the last call */
  changedTables: () => Promise<string[]>;
  /** `METHOD /path field` that no id of one's own can be put into, each with the reason */
  unanswered: Readonly<Record<string, string>>;
  /** ids of the other user that the sweep has put into rows of one's own */
  written: Set<string>;
  /** examples of a route's body */
  examplesOf: (route: ServedRoute) => unknown[];
}

const UNKNOWN = '00000000000070008000000000000000';
const MALFORMED = ['nonsense', '%00', '%ff%fe', "';drop table email;--", 'x'.repeat(300), '*', '>', '..%2f', '-1'];
/** What stands in a path beside ids: a place, and the name of an attachment. */
const CONSTANTS = ['0', 'a.txt'];
/** The Content-ID of a part is the message's own word. */
const FOREIGN_TO_US = /^content_?id$/i;
/** Names of fields that an identifier of ours goes into. */
const ID_FIELD = /(?:^|_|[a-z])(?:id|ids|Id|Ids)$/;
/** Names of fields through which rows are looked up as well. */
const LOOK_UP_FIELD = /cursor|after|before|domain|address|email|endpoint|thread|webhook|batch|rule|^from$/i;

interface Answer {
  given: string;
  text: string;
  status: number;
  body: string;
}

/**
 * Calls a route with everything of the other user's in every place where an id or a text goes, and answers what is wrong: an answer
 * that differs from the one for an id of nobody, a word of the other user's, a changed row, a place that could not be tried.
 */
export async function sweepRoute(route: ServedRoute, options: SweepOptions): Promise<string[]> {
  const { mine, theirs } = options;
  const name = `${route.method} ${route.url}`;
  const complaints: string[] = [];
  const complain = (text: string) => void complaints.push(`${name}: ${text}`);
  const secrets = [...[...theirs.ids.values()].flat(), ...theirs.names, theirs.mailbox.userId];
  const foreign = [...new Set([...samplesOf(theirs), ...theirs.names, theirs.mailbox.userId])];
  const unknown = ['em', 'ep', 'dom'].map((prefix) => `${prefix}_${UNKNOWN}`);
  const bodies = bodiesOf(route, options);
  const [body] = bodies;
  if (body === undefined && route.body !== null) complain('its body has no example to fill it by');

  async function ask(values: Record<string, string>, given: string, query = '', sent: unknown = body): Promise<Answer> {
    const path = route.url.replace(/:(\w+)|\*/g, (_, param = '*') =>
      encodeURI(values[param] ?? '').replaceAll('%25', '%'),
    );
    const response = await options.call(route.method, `${path}${query}`, withoutWait(route.url, sent));
    const shown = without(response.body, given, Object.values(values));
    for (const secret of secrets)
      if (!options.written.has(secret) && shown.includes(secret))
        complain(`tells ${secret} when asked for ${given.slice(0, 40)}`);
    const { statusCode: status, headers } = response;
    if (status >= 500 && status !== 503) complain(`answers ${status} to ${given.slice(0, 40)}`);
    const text = JSON.stringify([status, neutral(shown), headers['content-type'], Object.keys(headers).toSorted()]);
    return { given, text, status, body: response.body };
  }
  const compare = (place: string, answers: readonly Answer[], strangers: readonly Answer[]): void => {
    const expected = new Set(strangers.map((answer) => answer.text));
    const odd = answers.filter((answer) => !expected.has(answer.text));
    const [first] = odd;
    if (first !== undefined)
      complain(
        `${place} ${first.given}: ${first.text} instead of ${[...expected][0]} (${odd.length} of ${answers.length})`,
      );
    if (expected.size > 1) complain(`${place}: unknown ids are told apart: ${[...expected].join(' | ')}`);
  };
  const inTurn = async (values: readonly string[], work: (value: string) => Promise<Answer>): Promise<Answer[]> => {
    const answers: Answer[] = [];
    for (const value of values) answers.push(await work(value));
    return answers;
  };

  // What is not one's own comes first, since one's own may be gone afterwards. Reading costs nothing.
  const foundBefore = route.method === 'GET' ? await findOwn() : null;
  for (const [at, param] of route.params.entries()) {
    const others = route.params.filter((each) => each !== param);
    const beside = new Set(others.map((each) => foundBefore?.values[each] ?? kindsOf(mine)).flat());
    if (others.length === 0) beside.add('');
    else if (at === 0) for (const other of CONSTANTS) beside.add(other);
    // Beside what belongs to the other user as well, IDs of the kind that the route takes.
    const kind = foundBefore?.values[param]?.split('_')[0] ?? '';
    const ofKind = theirs.ids.get(kind) ?? kindsOf(theirs);
    const pairs = [...beside].map((other) => [other, other === '' ? foreign : samplesOf(theirs)] as const);
    if (others.length > 0 && at === 0) for (const other of kindsOf(theirs)) pairs.push([other, ofKind]);
    for (const [other, tried] of pairs) {
      const fill = (value: string) => Object.fromEntries([...others.map((each) => [each, other]), [param, value]]);
      const strangers = await inTurn(unknown, (value) => ask(fill(value), value));
      const answers = await inTurn(tried, (value) => ask(fill(value), value));
      compare(`${param} (${other})`, answers, strangers);
      const missing = strangers.find((answer) => answer.status !== 404);
      if (missing !== undefined) complain(`an unknown ${param} is answered ${missing.text}`);
      if (other !== '') continue;
      for (const answer of await inTurn(MALFORMED, (value) => ask(fill(value), value)))
        if (answer.status !== 404 && answer.status !== 400) complain(`a malformed ${param} is answered ${answer.text}`);
    }
  }
  await checkUnchanged('the path');

  const own = foundBefore ?? (await findOwn());
  if (own === null) {
    complain('none of one’s own ids is found by it, so that the sweep says nothing');
    return complaints;
  }

  if (route.method === 'GET') {
    for (const path of textFields(route.query)) {
      const field = path.join('.');
      const query = (value: string) => `?${field}=${encodeURIComponent(value)}`;
      const tried = isLookUp(field) ? foreign : [...ofNoKind(theirs), ...theirs.names, theirs.mailbox.userId];
      const strangers = await inTurn(unknown, (value) => ask(own.values, value, query(value)));
      compare(field, await inTurn(tried, (value) => ask(own.values, value, query(value))), strangers);
    }
  }
  if (route.body !== null && body !== undefined) {
    if (own.isInvalid) complain(`its example is no valid body: ${own.text}`);
    for (const path of textFields(route.body)) await sweepField(path, own.values);
  }
  await checkUnchanged('query and body');
  return complaints;

  async function sweepField(path: FieldPath, found: Record<string, string>): Promise<void> {
    const field = path.join('.');
    const word = String(path.findLast((key) => typeof key === 'string'));
    const isId = isIdField(word);
    let way = { values: found, base: body };
    if (isId && !(`${name} ${field}` in options.unanswered)) {
      const answered = await findAnswered(path, found);
      if (answered === null)
        complain(`${field} answers the same to every id of one’s own, so that the sweep says nothing`);
      else way = answered;
    }
    // A name is taken, whosever it is; that is all that it tells.
    const tried = isLookUp(word) ? samplesOf(theirs) : ofNoKind(theirs);
    const send = async (value: string) => {
      const answer = await ask(way.values, value, '', withField(way.base, path, value));
      // What one has written oneself may show from now on.
      if (answer.status < 300) options.written.add(value);
      return answer;
    };
    compare(field, await inTurn(tried, send), await inTurn(isLookUp(word) ? unknown : unknown.slice(0, 1), send));
  }

  /** A path and a body in which the field makes a difference: beside others, alone, or without one of the others. */
  async function findAnswered(
    path: FieldPath,
    found: Record<string, string>,
  ): Promise<{ values: Record<string, string>; base: unknown } | null> {
    const keys = Object.keys((body ?? {}) as object);
    const bases = [
      ...bodies,
      undefined,
      ...keys.map((key) => Object.fromEntries(Object.entries(body as object).filter(([each]) => each !== key))),
    ];
    const [param] = route.params;
    const prefix = param === undefined ? '' : (found[param]?.split('_')[0] ?? '');
    const ways = param === undefined ? [found] : (mine.ids.get(prefix) ?? []).map((id) => ({ ...found, [param]: id }));
    for (const base of bases)
      for (const values of ways) {
        const send = (value: string) => ask(values, value, '', withField(base, path, value));
        const stranger = await send(unknown[0] ?? '');
        for (const id of samplesOf(mine)) if ((await send(id)).text !== stranger.text) return { values, base };
      }
    return null;
  }

  /** A path of one's own that is found. */
  async function findOwn(): Promise<{ values: Record<string, string>; text: string; isInvalid: boolean } | null> {
    const [first, second] = route.params;
    for (const one of first === undefined ? [''] : candidatesOf(mine, route.url))
      for (const other of second === undefined ? [''] : [...CONSTANTS, ...[...mine.ids.values()].flat()]) {
        const values = { ...(first && { [first]: one }), ...(second && { [second]: other }) };
        const answer = await ask(values, one);
        if (answer.status !== 404 || first === undefined)
          return {
            values,
            text: answer.text,
            isInvalid: answer.status === 400 && /Validation failed/.test(answer.body),
          };
      }
    return null;
  }

  async function checkUnchanged(by: string): Promise<void> {
    for (const table of await options.changedTables()) complain(`${by}: rows of the other user in ${table} changed`);
  }
}

/** Returns the body with `timeout: 0` if the route waits for mail, so that it responds at once. */
export function withoutWait(url: string, body: unknown): unknown {
  return url.endsWith('/emails/wait') && typeof body === 'object' ? { ...body, timeout: 0 } : body;
}

function isIdField(name: string): boolean {
  return ID_FIELD.test(name) && !FOREIGN_TO_US.test(name);
}

function isLookUp(name: string): boolean {
  return isIdField(name) || LOOK_UP_FIELD.test(name);
}

/** An ID of each kind, and all of emails. */
function samplesOf({ ids }: Holdings): string[] {
  return [...ids].flatMap(([prefix, held]) => (prefix === 'em' ? held : held.slice(0, 1)));
}

function kindsOf({ ids }: Holdings): string[] {
  return [...ids.values()].flatMap((held) => held.slice(0, 1));
}

/** Where a text names no row. */
function ofNoKind({ ids }: Holdings): string[] {
  return [ids.get('em')?.at(-1) ?? ''];
}

/** What can stand first in the path: the IDs whose prefix begins the word before it, then those of emails, then all others. */
function candidatesOf({ ids }: Holdings, url: string): string[] {
  const word = /([a-z]+)\/:/.exec(url)?.[1] ?? '';
  const named = [...ids].filter(([prefix]) => word.startsWith(prefix)).flatMap(([, held]) => held);
  return [...new Set([...named, ...(ids.get('em') ?? []), ...[...ids.values()].flat(), ...CONSTANTS])];
}

/** Examples of the route's body, with ids and domains of one's own in them. */
function bodiesOf(route: ServedRoute, { mine, examplesOf }: SweepOptions): unknown[] {
  const domain = mine.mailbox.address.split('@')[1] ?? '';
  return (route.body === null ? [] : examplesOf(route)).map((example) =>
    JSON.parse(JSON.stringify(example), (_, value: unknown) => {
      if (typeof value !== 'string') return value;
      const prefix = /^([a-z]{2,4})_[0-9a-f]{32}$/.exec(value)?.[1] ?? '';
      return mine.ids.get(prefix)?.[0] ?? value.replaceAll('@example.com', `@${domain}`);
    }),
  );
}

/** The text without what was given, in whatever form it comes back. */
function without(text: string, given: string, values: readonly string[]): string {
  return [given, ...values]
    .filter((value) => value.length > 1)
    .flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value), value.toLowerCase()])
    .reduce((left, value) => left.replaceAll(value, '<id>'), text);
}

/** The text with what is new in every answer taken out. */
function neutral(text: string): string {
  return text
    .replace(/\b[a-z]{2,4}_[0-9a-f]{32}\b/g, '<id>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<at>')
    .replace(/\b[0-9a-f]{32}\b/g, '<random>')
    .replace(/\bwhsec_[\w+/=]+|\b[0-9a-f]{64}\b/g, '<secret>');
}
