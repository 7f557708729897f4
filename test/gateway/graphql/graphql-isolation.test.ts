import { isInterfaceType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DatabaseRole } from '../../../db/connection/database.ts';
import { nodePrefixes } from '../../../schema/graphql/node-kinds.ts';
import { schema } from '../../../schema/graphql/schema.ts';
import { isQuick } from '../../support/chaos-figures.ts';
import { digestsOf, type Holdings, makeHoldings, userTables } from '../../support/rows/holdings.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import {
  type GraphPlace,
  graphPlaces,
  operationText,
  requiredArguments,
  withValue,
} from '../../support/stages/graph-places.ts';

const UNKNOWN = '00000000000070008000000000000000';
const MALFORMED = ['nonsense', '', '%00', "';drop table email;--", 'x'.repeat(300), '-1', '__proto__'];
/** What one's own is gone by comes last, in this order. */
const DESTRUCTIVE = ['split', 'move', 'merge', 'cancel', 'lift', 'delete', 'deleteDomain', 'revoke'];
/** Which kind of id a mutation takes, by a word of its name. */
const KINDS: [word: RegExp, prefix: string][] = [
  [/Domain|DkimKey/, 'dom'],
  [/EmailAddress/, 'addr'],
  [/Endpoint|Deliveries/, 'ep'],
  [/GuardRule/, 'grd'],
  [/Delivery/, 'dlv'],
  [/ApiKey/, 'key'],
  [/Batch/, 'bat'],
];
const kindOf = (field: string) => KINDS.find(([word]) => word.test(field))?.[1] ?? 'em';
/** Names that are taken, whosever they are; that is all that is told. */
const TAKEN: Readonly<Record<string, string>> = {
  'mutation createDomain input.domain': 'a name has one verified owner',
  'mutation removeSuppression input.idOrAddress': 'one’s own by now: suppressAddress was asked with all of them',
};
/** Waits for seconds; what it shows is held against another user's mail by its own tests. */
const SLOW = 'query waitForEmail';

/** Places in which an ID of the user does not change the response, each with the reason. */
const UNANSWERED: Readonly<Record<string, string>> = {
  'mutation reprocessEmails input.emailIds': 'asks actors, which are away here',
  'mutation simulateInbound input.emailId': 'asks actors, which are away here',
};

const places = graphPlaces(schema);
const fields = [...Map.groupBy(places, ({ operation, field }) => `${operation} ${field}`).entries()];
const requests = fields.filter(([name]) => !name.startsWith('subscription') && name !== SLOW);

// Each wall for itself: row-level security with the conditions of every statement, and the conditions alone.
// In `npm test`, the conditions of the statements alone. Row-level security has its tests in isolation.test.ts.
describe.each<DatabaseRole>(isQuick ? ['postroom_actor'] : ['postroom_gateway', 'postroom_actor'])('as %s', (role) => {
  let gateway: TestGateway;
  let mine: Holdings;
  let theirs: Holdings;
  let tables: string[];
  let before: Map<string, string>;

  beforeAll(async () => {
    gateway = await openTestGateway({ role });
    await gateway.app.ready();
    [mine, theirs] = [await makeHoldings(gateway), await makeHoldings(gateway)];
    tables = await userTables(gateway.actor);
    before = await digestsOf(gateway.actor, tables, theirs.mailbox.userId);
  });
  afterAll(() => gateway.close());

  const own = (prefix: string, at = 0) => mine.ids.get(prefix)?.[at] ?? `${prefix}_${UNKNOWN}`;
  const samplesOf = ({ ids }: Holdings) => [...ids].flatMap(([prefix, held]) => held.slice(0, prefix === 'em' ? 8 : 2));

  const someOf = ({ ids }: Holdings) => [...ids].flatMap(([prefix, held]) => held.slice(0, prefix === 'em' ? 3 : 1));

  /** Other fields that an input needs, by the name of the input. */
  function valueOf(field: string, name: string, typeName: string): unknown {
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
      id: own(kindOf(field)),
      ids: [own(kindOf(field))],
    };
    if (Object.hasOwn(byName, name)) return byName[name];
    if (typeName === 'ID') return own('em');
    return { String: 'x', Int: 1, Boolean: true, DateTime: new Date().toISOString() }[typeName];
  }

  /** Arguments of fields whose required inputs alone would change nothing. */
  const more: Record<string, Record<string, unknown>[]> = {
    updateEmail: [{ isRead: true }],
    updateEmails: [{ isRead: true }],
    updateThreads: [{ isRead: true }],
    updateDomain: [{ isCatchAllEnabled: true }, { isCatchAllEnabled: false }],
    updateEmailAddress: [{ isActive: true }],
    updateGuardRule: [{ name: 'x' }, { action: { action: 'ROUTE' } }],
    createGuardRule: [{ action: { action: 'ROUTE' } }],
    backtestGuardRule: [{ action: { action: 'ROUTE' } }],
    updateWebhookEndpoint: [{ name: 'x' }],
    updateEmailEndpoint: [{ name: 'x' }],
    updateEmailGroupEndpoint: [{ name: 'x' }],
    sendEmail: [{ text: 'x' }],
    replyToEmail: [{ text: 'x' }],
  };

  const fieldOf = ({ operation, field }: GraphPlace) => {
    const root = operation === 'query' ? schema.getQueryType() : schema.getMutationType();
    const found = root?.getFields()[field];
    if (found === undefined) throw new Error('unreachable');
    return found;
  };
  const basesOf = (place: GraphPlace) => {
    const base = requiredArguments(fieldOf(place), (name, type) => valueOf(place.field, name, type)) as {
      input?: object;
    };
    return (more[place.field] ?? [{}]).map((added) =>
      base.input === undefined ? { ...base, ...added } : { ...base, input: { ...base.input, ...added } },
    );
  };

  /** The answer without what differs between two that are the same. */
  async function ask(place: GraphPlace, base: Record<string, unknown>, value: string): Promise<string> {
    const args = withValue(base, place, value);
    const query = operationText(schema, place.operation, fieldOf(place), Object.keys(args));
    const response = await gateway.graphql(mine.mailbox.apiKey, query, args as Record<string, unknown>);
    const text = response.body
      .replaceAll(JSON.stringify(value).slice(1, -1), 'GIVEN')
      .replaceAll(value.split('@')[1] ?? 'GIVEN', 'GIVEN')
      .replaceAll(/"requestId":"\w+"/g, '"requestId":"*"')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/\b([a-z]{2,4})_[0-9a-f]{32}\b/g, (id, prefix) =>
        samplesOf(theirs).includes(id) ? id : `${prefix}_*`,
      )
      .replaceAll(/whsec_[\w+/=]+|"p=[^"]+"|[A-Za-z0-9_-]{43}/g, 'RANDOM');
    return `${response.statusCode} ${text}`;
  }

  test('node and nodes know every type that has an id, and only one’s own', async () => {
    const nodeTypes = Object.values(schema.getTypeMap())
      .filter(isObjectType)
      .filter((type) => type.getInterfaces().some(({ name }) => name === 'Node'))
      .map(({ name }) => name);
    const fresh = await makeHoldings(gateway);
    const query = `query($id: ID!, $ids: [ID!]!) { node(id: $id) { __typename id } nodes(ids: $ids) { __typename id } }`;
    const key = fresh.mailbox.apiKey;
    const seen = new Set<string>();
    for (const prefix of nodePrefixes()) {
      const ids = prefix === 'usr' ? [fresh.mailbox.userId] : (fresh.ids.get(prefix) ?? []);
      for (const id of ids) {
        const answer = (await gateway.graphql(key, query, { id, ids: [id, `${prefix}_${UNKNOWN}`] })).json();
        expect(answer.data.node.id, JSON.stringify(answer)).toBe(id);
        expect(answer.data.nodes).toEqual([answer.data.node, null]);
        seen.add(answer.data.node.__typename);
        // A foreign ID gets the same response as an unknown one.
        const foreign = await gateway.graphql(mine.mailbox.apiKey, query, { id, ids: [id] });
        expect(foreign.json()).toEqual({ data: { node: null, nodes: [null] } });
      }
    }
    // The holdings have one kind of endpoint.
    const endpoints = ['EmailEndpoint', 'EmailGroupEndpoint'];
    expect([...seen, ...endpoints].toSorted()).toEqual([...new Set(nodeTypes)].toSorted());
  });

  const rankOf = (name: string) => DESTRUCTIVE.findLastIndex((word) => name.split(' ')[1]?.startsWith(word));
  const deletesLast = requests.toSorted(([a], [b]) => rankOf(a) - rankOf(b));

  test.each(deletesLast)(
    '%s tells nothing of another user’s, and changes nothing',
    { timeout: 60_000 },
    async (name, of) => {
      for (const place of of) {
        const where = `${name} ${place.path.join('.')}`;
        const isId = /ids?$/i.test(place.path.at(-1) ?? '');
        const foreign = [...someOf(theirs), ...(isId || where in TAKEN ? [] : theirs.names)];
        const unknown = [...['em', 'ep', 'dom'].map((prefix) => `${prefix}_${UNKNOWN}`), ...MALFORMED];
        if (!isId)
          unknown.push(
            `nobody@of-nobody-${place.field}.test`.toLowerCase(),
            `of-nobody-${place.field}.test`.toLowerCase(),
          );
        let isAnswered = !isId || where in UNANSWERED;
        const kind = kindOf(place.field);
        const ofMine = samplesOf(mine).toSorted((a, b) => Number(b.startsWith(kind)) - Number(a.startsWith(kind)));
        for (const base of basesOf(place)) {
          const strangers = new Set<string>();
          for (const value of unknown) strangers.add(await ask(place, base, value));
          for (const value of foreign) {
            const answer = await ask(place, base, value);
            expect([...strangers], `${where}: ${value}`).toContain(answer);
          }
          for (const secret of [...samplesOf(theirs), ...theirs.names, theirs.mailbox.userId])
            for (const stranger of strangers) expect(stranger, where).not.toContain(secret);
          for (const value of ofMine) {
            if (isAnswered) break;
            isAnswered = !strangers.has(await ask(place, base, value));
          }
        }
        expect(isAnswered, `${where}: no ID of the user changes the response`).toBe(true);
      }
      const now = await digestsOf(gateway.actor, tables, theirs.mailbox.userId);
      expect(tables.filter((table) => now.get(table) !== before.get(table))).toEqual([]);
    },
  );
});

test('every type and field says what it is', () => {
  const silent = Object.values(schema.getTypeMap())
    .filter((type) => !type.name.startsWith('__'))
    .flatMap((type) => {
      const own = type.description ? [] : [type.name];
      if (!isObjectType(type) && !isInterfaceType(type)) return own;
      const inner = Object.values(type.getFields()).flatMap((field) => [
        ...(field.description ? [] : [`${type.name}.${field.name}`]),
        ...field.args
          .filter(({ description }) => !description)
          .map(({ name }) => `${type.name}.${field.name}(${name})`),
      ]);
      return [...own, ...inner];
    })
    .filter(
      (name) => !/Connection|Edge|PageInfo|^(Boolean|Float|ID|Int|String)$|\((after|before|first|last)\)$/.test(name),
    );
  expect(silent).toEqual([]);
});
