import { isInterfaceType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DatabaseRole } from '../../../db/connection/database.ts';
import { nodePrefixes } from '../../../schema/graphql/node-kinds.ts';
import { schema } from '../../../schema/graphql/schema.ts';
import { isQuick } from '../../support/chaos-figures.ts';
import { type Holdings, makeHoldings, readDigests, workspaceTables } from '../../support/rows/holdings.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { graphPlaces } from '../../support/stages/graph-places.ts';
import { sweepField, sweptFields, UNKNOWN } from '../../support/stages/graph-sweep.ts';

/** Places in which an ID of the user does not change the response, each with the reason. */
const UNANSWERED: Readonly<Record<string, string>> = {
  'mutation reprocessEmails input.emailIds': 'asks actors, which are away here',
  'query draftAttachment id': 'an attachment is found only within its draft; see graphql-parity.test.ts',
  'query draftAttachment draftId': 'found only with the ID of one of its attachments; see graphql-parity.test.ts',
  'query customerWorkspaces filter.clientId': 'a name that the product chooses; see accounts/customers.test.ts',
  'mutation createCustomerWorkspace input.clientId': 'a name that the product chooses; see accounts/customers.test.ts',
  'mutation leaveWorkspace input.workspaceId': 'only sessions leave; see accounts/members.test.ts',
  'mutation transferOwnership input.id': 'only sessions of the owner transfer; see accounts/members.test.ts',
  'mutation setReadByMe input.threadIds': 'needs a person; see graphql/read-by-me.test.ts',
  'mutation setReadByMe input.emailId': 'needs a person; see graphql/read-by-me.test.ts',
  'mutation revokeScimToken input.id': 'only sessions of the owner revoke it; see scim/scim-members.test.ts',
  'mutation simulateInbound input.emailId': 'asks actors, which are away here',
};

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
    tables = await workspaceTables(gateway.actor);
    before = await readDigests(gateway.actor, tables, theirs.mailbox.workspaceId);
  });
  afterAll(() => gateway.close());

  test("node and nodes know every type that has an id, and only the user's own objects", async () => {
    const nodeTypes = Object.values(schema.getTypeMap())
      .filter(isObjectType)
      .filter((type) => type.getInterfaces().some(({ name }) => name === 'Node'))
      .map(({ name }) => name);
    const fresh = await makeHoldings(gateway);
    const query = `query($id: ID!, $ids: [ID!]!) { node(id: $id) { __typename id } nodes(ids: $ids) { __typename id } }`;
    const key = fresh.mailbox.apiKey;
    const seen = new Set<string>();
    for (const prefix of nodePrefixes()) {
      const ids = prefix === 'usr' ? [fresh.mailbox.workspaceId] : (fresh.ids.get(prefix) ?? []);
      for (const id of ids) {
        const response = (await gateway.graphql(key, query, { id, ids: [id, `${prefix}_${UNKNOWN}`] })).json();
        expect(response.data.node.id, JSON.stringify(response)).toBe(id);
        expect(response.data.nodes).toEqual([response.data.node, null]);
        seen.add(response.data.node.__typename);
        // A foreign ID gets the same response as an unknown one.
        const foreign = await gateway.graphql(mine.mailbox.apiKey, query, { id, ids: [id] });
        expect(foreign.json()).toMatchObject({ data: { node: null, nodes: [null] } });
      }
    }
    // The holdings have one kind of endpoint.
    const endpoints = ['EmailEndpoint', 'EmailGroupEndpoint'];
    expect([...seen, ...endpoints].toSorted()).toEqual([...new Set(nodeTypes)].toSorted());
  });

  test.each(sweptFields(graphPlaces(schema)))(
    '%s returns nothing of another user’s, and changes nothing',
    async (name, places) => {
      const complaints = await sweepField(name, places, {
        schema,
        mine,
        theirs,
        call: (query, variables) => gateway.graphql(mine.mailbox.apiKey, query, variables),
        unanswered: UNANSWERED,
        breadth: isQuick ? 'some' : 'all',
      });
      expect(complaints).toEqual([]);
      const now = await readDigests(gateway.actor, tables, theirs.mailbox.workspaceId);
      expect(tables.filter((table) => now.get(table) !== before.get(table))).toEqual([]);
    },
  );
});

test('every type and field has a description', () => {
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
