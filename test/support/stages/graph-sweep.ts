import type { GraphQLField, GraphQLSchema } from 'graphql';
import { type Holdings } from '../rows/holdings.ts';
import { type GraphPlace, operationText, requiredArguments, withValue } from './graph-places.ts';
import { type Breadth, oneFor, sampleFor } from './isolation-sweep.ts';

export interface GraphSweepOptions {
  schema: GraphQLSchema;
  /** a request of the user whose own holdings are `mine` */
  call: (query: string, variables: Record<string, unknown>) => Promise<{ statusCode: number; body: string }>;
  mine: Holdings;
  /** of whom nothing may be learned */
  theirs: Holdings;
  /** places in which an ID of the user does not change the response, each with the reason */
  unanswered: Readonly<Record<string, string>>;
  breadth: Breadth;
  /** whether actors work meanwhile: what a query answers counts as different only if it stays so */
  isLive?: boolean;
}

export const UNKNOWN = '00000000000070008000000000000000';
const MALFORMED = ['nonsense', '', '%00', "';drop table email;--", 'x'.repeat(300), '-1', '__proto__'];
/** What one's own is gone by comes last, in this order. */
const DESTRUCTIVE = [
  'removeMember',
  'split',
  'move',
  'merge',
  'cancel',
  'lift',
  'revoke',
  'delete',
  'deleteDomain',
  'revokeApiKey',
];
/** Which kind of id a mutation takes, by a word of its name. */
const KINDS: [word: RegExp, prefix: string][] = [
  [/Customer|BrowserToken/, 'wsp'],
  [/Member/, 'usr'],
  [/Invitation/, 'inv'],
  [/Domain|DkimKey/, 'dom'],
  [/[rR]efusal/, 'rfs'],
  [/ReplyAddress/, 'rpl'],
  [/SavedView/, 'view'],
  [/Snippet/, 'snp'],
  [/EmailAddress/, 'addr'],
  [/Endpoint|Deliveries/, 'ep'],
  [/GuardRule/, 'grd'],
  [/Delivery/, 'dlv'],
  [/ApiKey/, 'key'],
  [/Batch/, 'bat'],
  [/Draft/, 'drf'],
];
const findKind = (field: string) => KINDS.find(([word]) => word.test(field))?.[1] ?? 'em';
/** Names that are taken, whosever they are; that is all that is told. */
const TAKEN: Readonly<Record<string, string>> = {
  'mutation createDomain input.domain': 'a name has one verified owner',
  'mutation removeImageSender input.address': 'one’s own by now: addImageSender was asked with all of them',
  'mutation removeSuppression input.idOrAddress': 'one’s own by now: suppressAddress was asked with all of them',
};
/** Waits for seconds; what it shows is held against another user's mail by its own tests. */
const SLOW = 'query waitForEmail';
/** See LIVE_COMPARISONS of isolation-sweep.ts. */
const LIVE_COMPARISONS = 3;

/** Arguments of fields whose required inputs alone would change nothing. */
const MORE: Readonly<Record<string, Record<string, unknown>[]>> = {
  updateEmail: [{ isRead: true }],
  updateEmails: [{ isRead: true }],
  updateThreads: [{ isRead: true }],
  assignThread: [{ assignee: null }],
  snoozeThread: [{ until: null }],
  remindOfThread: [{ at: null }],
  remindOfEmail: [{ at: null }],
  replyToEvent: [{ response: 'ACCEPTED' }],
  updateDomain: [{ isCatchAllEnabled: true }, { isCatchAllEnabled: false }],
  updateApiKey: [{ name: 'x' }],
  updateMember: [{ role: 'AGENT' }],
  updateCustomerWorkspace: [{ name: 'x' }],
  createBrowserToken: [{ rights: ['READ'], origins: ['https://app.example.com'] }],
  updateEmailAddress: [{ isActive: true }],
  updateGuardRule: [{ name: 'x' }, { action: { action: 'ROUTE' } }],
  createGuardRule: [{ action: { action: 'ROUTE' } }],
  backtestGuardRule: [{ action: { action: 'ROUTE' } }],
  updateWebhookEndpoint: [{ name: 'x' }],
  updateEmailEndpoint: [{ name: 'x' }],
  updateEmailGroupEndpoint: [{ name: 'x' }],
  createDraft: [{ kind: 'REPLY' }],
  createSavedView: [{ isShared: true }],
  updateSavedView: [{ name: 'x' }],
  updateSnippet: [{ name: 'x' }],
  sendEmail: [{ text: 'x' }],
  replyToEmail: [{ text: 'x' }],
};

/** Returns the places by the fields of query and mutation that have them; what deletes comes last. */
export function sweptFields(places: readonly GraphPlace[]): [name: string, places: GraphPlace[]][] {
  const fields = [...Map.groupBy(places, ({ operation, field }) => `${operation} ${field}`).entries()];
  const readRank = (name: string) => DESTRUCTIVE.findLastIndex((word) => name.split(' ')[1]?.startsWith(word));
  return fields
    .filter(([name]) => !name.startsWith('subscription') && name !== SLOW)
    .toSorted(([a], [b]) => readRank(a) - readRank(b));
}

/**
 * Puts everything of the other user's into every place of a field, and returns what is wrong: a response that differs from the one for an
 * ID of nobody, a word of the other user's, a place in which no ID of one's own makes a difference.
 */
export async function sweepField(
  name: string,
  places: readonly GraphPlace[],
  options: GraphSweepOptions,
): Promise<string[]> {
  const { schema, mine, theirs, breadth, isLive = false } = options;
  const isFew = breadth === 'few';
  const complaints: string[] = [];
  const secrets = [...listSamples(theirs), ...theirs.names, theirs.mailbox.workspaceId];
  const comparisons = isLive && name.startsWith('query') ? LIVE_COMPARISONS : 1;
  for (const place of places) {
    const where = `${name} ${place.path.join('.')}`;
    const isId = /ids?$/i.test(place.path.at(-1) ?? '');
    const last = place.path.at(-1) ?? '';
    const likely = readFew(theirs, place.field, last);
    const held = isFew ? likely : breadth === 'some' ? sampleFor(where, theirs, likely) : readSome(theirs);
    const foreign = [...new Set([...held, ...(isId || where in TAKEN ? [] : theirs.names)])];
    const unknown = (isFew ? ['em'] : ['em', 'ep', 'dom']).map((prefix) => `${prefix}_${UNKNOWN}`);
    if (breadth === 'all') unknown.push(...MALFORMED);
    if (!isId) {
      const ofNobody = `of-nobody-${place.field}.test`.toLowerCase();
      unknown.push(`nobody@${ofNobody}`, ofNobody);
    }
    let isRead = isFew || !isId || where in options.unanswered;
    const ofMine = new Set([...readFew(mine, place.field, last), ...listSamples(mine)]);
    for (const base of exampleArguments(readField(place), mine)) {
      const strangers = new Set<string>();
      let odd = foreign.map((value) => ({ value, response: '' }));
      for (let comparison = 0; comparison < comparisons && odd.length > 0; comparison++) {
        for (const value of unknown) strangers.add(await ask(place, base, value));
        const responses: typeof odd = [];
        for (const { value } of odd) responses.push({ value, response: await ask(place, base, value) });
        odd = responses.filter(({ response }) => !strangers.has(response));
      }
      for (const { value, response } of odd)
        complaints.push(`${where}: ${value}: ${response} instead of ${[...strangers].join(' | ')}`);
      for (const secret of secrets)
        for (const stranger of strangers)
          if (stranger.includes(secret)) complaints.push(`${where} tells ${secret}: ${stranger}`);
      for (const value of ofMine) {
        if (isRead) break;
        isRead = !strangers.has(await ask(place, base, value));
      }
    }
    if (!isRead) complaints.push(`${where}: no ID of the user changes the response`);
  }
  return complaints;

  function readField({ operation, field }: GraphPlace) {
    const root = operation === 'query' ? schema.getQueryType() : schema.getMutationType();
    const found = root?.getFields()[field];
    if (found === undefined) throw new Error('unreachable');
    return found;
  }

  /** The response without what differs between two that are the same. */
  async function ask(place: GraphPlace, base: Record<string, unknown>, value: string): Promise<string> {
    const args = withValue(base, place, value) as Record<string, unknown>;
    const query = operationText(schema, place.operation, readField(place), Object.keys(args));
    const response = await options.call(query, args);
    const text = response.body
      .replaceAll(JSON.stringify(value).slice(1, -1), 'GIVEN')
      .replaceAll(value.split('@')[1] ?? 'GIVEN', 'GIVEN')
      .replaceAll(/"requestId":"\w+"/g, '"requestId":"*"')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/\b([a-z]{2,4})_[0-9a-f]{32}\b/g, (id, prefix) =>
        listSamples(theirs).includes(id) ? id : `${prefix}_*`,
      )
      .replaceAll(/whsec_[\w+/=]+|"p=[^"]+"|[A-Za-z0-9_-]{43}/g, 'RANDOM');
    return `${response.statusCode} ${text}`;
  }
}

/** Returns arguments of a field with what a user has, which would change something. */
export function exampleArguments(field: GraphQLField<unknown, unknown>, mine: Holdings): Record<string, unknown>[] {
  const base = requiredArguments(field, (argument, type) => readValue(mine, field.name, argument, type)) as {
    input?: object;
  };
  return (MORE[field.name] ?? [{}]).map((added) =>
    base.input === undefined ? { ...base, ...added } : { ...base, input: { ...base.input, ...added } },
  );
}

function listSamples({ ids }: Holdings): string[] {
  return [...ids].flatMap(([prefix, held]) => held.slice(0, prefix === 'em' ? 8 : 2));
}

function readFew(holdings: Holdings, field: string, name: string): string[] {
  const ofField = holdings.ids.get(findKind(field))?.[0];
  const ofName = oneFor(name, holdings);
  return ofField === undefined ? [ofName] : [ofField, ofName];
}

function readSome({ ids }: Holdings): string[] {
  return [...ids].flatMap(([prefix, held]) => held.slice(0, prefix === 'em' ? 3 : 1));
}

/** Other fields that an input needs, by the name of the input. */
function readValue(mine: Holdings, field: string, name: string, typeName: string): unknown {
  const own = (prefix: string, at = 0) => mine.ids.get(prefix)?.[at] ?? `${prefix}_${UNKNOWN}`;
  const domain = mine.mailbox.address.split('@')[1] ?? '';
  const byName: Record<string, unknown> = {
    name: 'x',
    url: 'https://hooks.example.com/',
    forwardTo: 'ann@elsewhere.test',
    addresses: ['ann@elsewhere.test'],
    domain: `fresh-${domain}`,
    address: `fresh@${domain}`,
    from: mine.mailbox.address,
    to: ['bob@elsewhere.test'],
    subject: 'x',
    text: 'x',
    scheduledAt: new Date(Date.now() + 7 * 86_400_000).toISOString(),
    since: new Date(Date.now() - 86_400_000).toISOString(),
    config: { subject: { values: ['x'] } },
    content: 'eA==',
    value: 'x',
    values: ['x'],
    threadIds: [own('th'), own('th', 1)],
    emailIds: [own('em')],
    threadId: own('th'),
    domainId: own('dom'),
    idOrAddress: 'nobody@elsewhere.test',
    type: typeName === 'GuardRuleType' ? 'EXPLICIT' : undefined,
    id: own(findKind(field)),
    ids: [own(findKind(field))],
  };
  if (Object.hasOwn(byName, name)) return byName[name];
  if (typeName === 'ID') return own('em');
  return { String: 'x', Int: 1, Boolean: true, DateTime: new Date().toISOString() }[typeName];
}
