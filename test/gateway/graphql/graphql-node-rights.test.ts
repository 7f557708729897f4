import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertKey } from '../../support/rows/key-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openTeam, type TeamStage } from '../../support/stages/team-stage.ts';

let gateway: TestGateway;
let team: TeamStage;

beforeAll(async () => {
  gateway = await openTestGateway();
  team = await openTeam(gateway, 'nodes');
});
afterAll(() => gateway.close());

const DOCUMENT = '($id: ID!) { node(id: $id) { __typename } nodes(ids: [$id]) { __typename } }';

test('node returns what needs a right of its own to those only who have it', async () => {
  const workspace = await gateway.call(team.box.apiKey, 'POST', '/workspaces', { client_id: 'customer' });
  const entry = (await gateway.call(team.box.apiKey, 'GET', '/audit')).json().data[0];
  const viewer = await team.makeMember('viewer');
  const keys = await Promise.all(
    [['read'], ['read', 'manage'], ['read', 'workspaces'], null].map((scopes) =>
      insertKey(gateway.owner, team.box, { scopes: scopes as null }),
    ),
  );
  for (const [id, type, seen] of [
    [entry.id, 'AuditEntry', [false, true, false, true]],
    [workspace.json().id, 'CustomerWorkspace', [false, false, true, true]],
  ] as const) {
    const responses = await Promise.all(
      keys.map(async ({ secret }) => {
        const response = await gateway.app.inject({
          method: 'POST',
          url: '/graphql',
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
          payload: JSON.stringify({ query: `query${DOCUMENT}`, variables: { id } }),
        });
        return response.json().data;
      }),
    );
    const shown = { node: { __typename: type }, nodes: [{ __typename: type }] };
    expect(responses).toEqual(seen.map((sees) => (sees ? shown : { node: null, nodes: [null] })));
    const asked = await viewer.browser.graphql(`query${DOCUMENT}`, {}, { id });
    expect(asked.json().data).toEqual({ node: null, nodes: [null] });
  }
});
