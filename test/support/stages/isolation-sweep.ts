import { createHash } from 'node:crypto';
import type { GatewayResponse, Holdings } from '../rows/holdings.ts';
import { type FieldPath, type ServedRoute, textFields, withField } from '../rows/route-table.ts';

/**
 * With how much of the other user's each place is tried: `all`; `some`: IDs of the kinds that it takes and of a few others, and nothing
 * malformed; `few`: of each place what it takes, without looking for what of one's own it responds to.
 */
export type Breadth = 'all' | 'some' | 'few';

export interface SweepOptions {
  /** a request of the user whose own holdings are `mine` */
  call: (method: string, path: string, body?: unknown) => Promise<GatewayResponse>;
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
  listExamples: (route: ServedRoute) => unknown[];
  breadth: Breadth;
  /** whether actors work meanwhile: what is read counts as different only if it stays so */
  isLive?: boolean;
}

const UNKNOWN = '00000000000070008000000000000000';
const MALFORMED = ['nonsense', '%00', '%ff%fe', "';drop table email;--", 'x'.repeat(300), '*', '>', '..%2f', '-1'];
/** What stands in a path beside ids: a place, and the name of an attachment. */
const CONSTANTS = ['0', 'a.txt'];
/** The Content-ID of a part is the message's own word. */
const FOREIGN_TO_US = /^content_?id$/i;
/** Emails are of many kinds; how many IDs of them a sweep takes. */
const EMAILS: Record<Breadth, number> = { all: Infinity, some: 1, few: 1 };
/** How many kinds of IDs that a place does not take are tried there all the same, when not all are. */
const OTHER_KINDS = 1;
/** How often a running service is asked before a difference counts: what is one's own may change meanwhile. */
const LIVE_COMPARISONS = 3;
/** Names of fields that an identifier of ours goes into. */
const ID_FIELD = /(?:^|_|[a-z])(?:id|ids|Id|Ids)$/;
/** Names of fields through which rows are looked up as well. */
const LOOK_UP_FIELD = /cursor|after|before|domain|address|email|endpoint|thread|webhook|batch|rule|^from$/i;

interface SweepResponse {
  given: string;
  text: string;
  status: number;
  body: string;
}

/**
 * Calls a route with everything of the other user's in every place where an id or a text goes, and returns what is wrong: a response
 * that differs from the one for an id of nobody, a word of the other user's, a changed row, a place that could not be tried.
 */
export async function sweepRoute(route: ServedRoute, options: SweepOptions): Promise<string[]> {
  const { mine, theirs, breadth, isLive = false } = options;
  const comparisons = isLive && route.method === 'GET' ? LIVE_COMPARISONS : 1;
  const isFew = breadth === 'few';
  const malformed = breadth === 'all' ? MALFORMED : [];
  const name = `${route.method} ${route.url}`;
  const complaints: string[] = [];
  const complain = (text: string) => void complaints.push(`${name}: ${text}`);
  const secrets = [...[...theirs.ids.values()].flat(), ...theirs.names, theirs.mailbox.workspaceId];
  const idsFor = (place: string) =>
    breadth === 'some'
      ? sampleFor(`${name} ${place}`, theirs, [listCandidates(theirs, route.url)[0] ?? '', oneFor(place, theirs)])
      : listSamples(theirs, EMAILS[breadth]);
  const foreignFor = (place: string) => [...new Set([...idsFor(place), ...theirs.names, theirs.mailbox.workspaceId])];
  const unknown = (isFew ? ['em'] : ['em', 'ep', 'dom']).map((prefix) => `${prefix}_${UNKNOWN}`);
  const bodies = listBodies(route, options);
  const [body] = bodies;
  if (body === undefined && route.body !== null) complain('its body has no example to fill it by');

  async function ask(
    values: Record<string, string>,
    given: string,
    query = '',
    sent: unknown = body,
  ): Promise<SweepResponse> {
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
  /** Asks for what is the other user's and for what is nobody's, and complains of responses that differ. */
  async function compare(
    place: string,
    tried: readonly string[],
    unknowns: readonly string[],
    work: (value: string) => Promise<SweepResponse>,
  ): Promise<SweepResponse[]> {
    let left = [...tried];
    const strangers: SweepResponse[] = [];
    for (let comparison = 1; ; comparison++) {
      const asked = await inTurn(unknowns, work);
      strangers.push(...asked);
      const responses = await inTurn(left, work);
      const expected = new Set(strangers.map((response) => response.text));
      const odd = responses.filter((response) => !expected.has(response.text));
      const isToldApart = new Set(asked.map((response) => response.text)).size > 1;
      if (odd.length === 0 && !isToldApart) return strangers;
      left = odd.map((response) => response.given);
      if (comparison < comparisons) continue;
      const [first] = odd;
      if (first !== undefined)
        complain(
          `${place} ${first.given}: ${first.text} instead of ${[...expected][0]} (${odd.length} of ${tried.length})`,
        );
      if (isToldApart) complain(`${place}: unknown ids are told apart: ${[...expected].join(' | ')}`);
      return strangers;
    }
  }
  async function inTurn(
    values: readonly string[],
    work: (value: string) => Promise<SweepResponse>,
  ): Promise<SweepResponse[]> {
    const responses: SweepResponse[] = [];
    for (const value of values) responses.push(await work(value));
    return responses;
  }

  // What is not one's own comes first, since one's own may be gone afterwards. Reading costs nothing.
  const foundBefore = route.method === 'GET' ? await findOwn() : null;
  for (const [at, param] of route.params.entries()) {
    const others = route.params.filter((each) => each !== param);
    const beside = new Set(others.map((each) => foundBefore?.values[each] ?? listKinds(mine)).flat());
    if (others.length === 0) beside.add('');
    else if (at === 0) for (const other of CONSTANTS) beside.add(other);
    // Beside what belongs to the other user as well, IDs of the kind that the route takes.
    const kind = foundBefore?.values[param]?.split('_')[0] ?? '';
    const ofKind = theirs.ids.get(kind) ?? listKinds(theirs);
    const pairs = [...beside].map((other) => [other, other === '' ? foreignFor(param) : idsFor(param)] as const);
    const besideOfTheirs = breadth === 'all' ? listKinds(theirs) : idsFor(others.join());
    if (others.length > 0 && at === 0) for (const other of besideOfTheirs) pairs.push([other, ofKind]);
    const few = listCandidates(theirs, route.url).slice(0, 2);
    for (const [other, tried] of isFew ? pairs.slice(0, 1).map(([first]) => [first, few] as const) : pairs) {
      const fill = (value: string) => Object.fromEntries([...others.map((each) => [each, other]), [param, value]]);
      const strangers = await compare(`${param} (${other})`, tried, unknown, (value) => ask(fill(value), value));
      const missing = strangers.find((response) => response.status !== 404);
      if (missing !== undefined) complain(`an unknown ${param} is answered ${missing.text}`);
      if (other !== '') continue;
      for (const response of await inTurn(malformed, (value) => ask(fill(value), value)))
        if (response.status !== 404 && response.status !== 400)
          complain(`a malformed ${param} is answered ${response.text}`);
    }
  }
  await checkUnchanged('the path');

  const own = foundBefore ?? (await findOwn());
  if (own === null) {
    if (!(name in options.unanswered)) complain('none of one’s own ids is found by it, so that the sweep says nothing');
    return complaints;
  }

  if (route.method === 'GET') {
    for (const path of textFields(route.query)) {
      const field = path.join('.');
      const query = (value: string) => `?${field}=${encodeURIComponent(value)}`;
      const tried = isFew
        ? [oneFor(field, theirs), ...theirs.names.slice(0, 2)]
        : isLookUp(field)
          ? foreignFor(field)
          : [...ofNoKind(theirs), ...theirs.names, theirs.mailbox.workspaceId];
      await compare(field, tried, unknown, (value) => ask(own.values, value, query(value)));
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
    if (isId && !isFew && !(`${name} ${field}` in options.unanswered)) {
      const responded = await findReplied(path, found);
      if (responded === null)
        complain(`${field} answers the same to every id of one’s own, so that the sweep says nothing`);
      else way = responded;
    }
    // A name is taken, whosever it is; that is all that it tells.
    const tried = !isLookUp(word) ? ofNoKind(theirs) : isFew ? [oneFor(word, theirs)] : idsFor(word);
    const send = async (value: string) => {
      const response = await ask(way.values, value, '', withField(way.base, path, value));
      // What one has written oneself may show from now on.
      if (response.status < 300) options.written.add(value);
      return response;
    };
    await compare(field, tried, isLookUp(word) ? unknown : unknown.slice(0, 1), send);
  }

  /** A path and a body in which the field makes a difference: beside others, alone, or without one of the others. */
  async function findReplied(
    path: FieldPath,
    found: Record<string, string>,
  ): Promise<{ values: Record<string, string>; base: unknown } | null> {
    const keys = Object.keys((body ?? {}) as object);
    const bases = [
      ...bodies,
      undefined,
      ...keys.map((key) => Object.fromEntries(Object.entries(body as object).filter(([each]) => each !== key))),
    ];
    const likely = new Set([oneFor(path.join('.'), mine), ...listSamples(mine)]);
    const [param] = route.params;
    const prefix = param === undefined ? '' : (found[param]?.split('_')[0] ?? '');
    const ways = param === undefined ? [found] : (mine.ids.get(prefix) ?? []).map((id) => ({ ...found, [param]: id }));
    for (const base of bases)
      for (const values of ways) {
        const send = (value: string) => ask(values, value, '', withField(base, path, value));
        const stranger = await send(unknown[0] ?? '');
        for (const id of likely) if ((await send(id)).text !== stranger.text) return { values, base };
      }
    return null;
  }

  /** A path of one's own that is found. */
  async function findOwn(): Promise<{ values: Record<string, string>; text: string; isInvalid: boolean } | null> {
    const [first, second] = route.params;
    const ones = first === undefined ? [''] : listCandidates(mine, route.url);
    const [constants, ids] = second === undefined ? [[''], []] : [CONSTANTS, [...mine.ids.values()].flat()];
    const pairs = [constants, ids].flatMap((others) =>
      ones.flatMap((one) => others.map((other) => [one, other] as const)),
    );
    for (const [one, other] of pairs) {
      const values = { ...(first && { [first]: one }), ...(second && { [second]: other }) };
      const response = await ask(values, one);
      if (response.status !== 404 || first === undefined)
        return {
          values,
          text: response.text,
          isInvalid: response.status === 400 && /Validation failed/.test(response.body),
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

/** An ID of each kind, and so many of emails. */
function listSamples({ ids }: Holdings, emails = Infinity): string[] {
  return [...ids].flatMap(([prefix, held]) => held.slice(0, prefix === 'em' ? emails : 1));
}

/** An ID of the user's of the kind that a place of that name takes. */
export function oneFor(name: string, { ids }: Holdings): string {
  const kinds: [words: RegExp, prefix: string][] = [
    [/thread/i, 'th'],
    [/domain/i, 'dom'],
    [/endpoint|webhook/i, 'ep'],
    [/address/i, 'addr'],
    [/rule/i, 'grd'],
    [/batch/i, 'bat'],
  ];
  const kind = kinds.find(([words]) => words.test(name))?.[1] ?? 'em';
  return ids.get(kind)?.[0] ?? '';
}

/** The likely IDs, and one each of OTHER_KINDS more kinds, others in each place. */
export function sampleFor(place: string, holdings: Holdings, likely: readonly string[]): string[] {
  const kinds = listKinds(holdings);
  const first = createHash('sha256').update(place).digest().readUInt32BE();
  const others = Array.from({ length: OTHER_KINDS }, (_, at) => kinds[(first + at) % kinds.length] ?? '');
  return [...new Set([...likely, ...others])].filter((id) => id !== '');
}

function listKinds({ ids }: Holdings): string[] {
  return [...ids.values()].flatMap((held) => held.slice(0, 1));
}

/** Where a text names no row. */
function ofNoKind({ ids }: Holdings): string[] {
  return [ids.get('em')?.at(-1) ?? ''];
}

/** What can stand first in the path: the IDs whose prefix begins the word before it, then those of emails, then all others. */
export function listCandidates({ ids, names }: Holdings, url: string): string[] {
  const word = /([a-z]+)\/:/.exec(url)?.[1] ?? '';
  const named = [...ids].filter(([prefix]) => word.startsWith(prefix)).flatMap(([, held]) => held);
  return [...new Set([...named, ...(ids.get('em') ?? []), ...[...ids.values()].flat(), ...CONSTANTS, ...names])];
}

/** Examples of the route's body, with ids and domains of one's own in them. */
export function listBodies(
  route: ServedRoute,
  { mine, listExamples }: Pick<SweepOptions, 'mine' | 'listExamples'>,
): unknown[] {
  const domain = mine.mailbox.address.split('@')[1] ?? '';
  return (route.body === null ? [] : listExamples(route)).map((example) =>
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

/** The text with what is new in every response taken out. */
function neutral(text: string): string {
  return (
    text
      .replace(/\b[a-z]{2,4}_[0-9a-f]{32}\b/g, '<id>')
      // A label that an earlier route gave already changes nothing.
      .replace(/"undo_id":(?:null|"<id>")/g, '"undo_id":<undo>')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<at>')
      .replace(/\b[0-9a-f]{32}\b/g, '<random>')
      .replace(
        /\bwhsec_[\w+/=]+|\bscim_[\w-]{43}|\b[0-9a-f]{64}\b|(?<="token":")[\w-]{43}(?=")|(?<="hint":")[\w-]{4}…[\w-]{4}(?=")/g,
        '<secret>',
      )
  );
}
