import type { OpenAPIV3_1 } from 'openapi-types';
import { expect, test } from 'vitest';
import { UNSERVED_ROUTES } from '../../../gateway/rest/unserved-routes.ts';
import { recordRoutes } from '../../support/rows/route-table.ts';
import { openRoutesOnly } from '../../support/servers/gateway.ts';
import { listFields, listRoutes, listTools, type SweptOperation } from '../../support/stages/rights-operations.ts';

/** Returns the line of the table for an operation: its name, the rights that it needs, and whether limited keys and members may use it. */
function describeOperation({ name, access: { rights, isOfDomain } }: SweptOperation): string {
  const needed =
    'cases' in rights
      ? Object.entries(rights.cases)
          .map(([when, each]) => `${each.join(' and ')} ${when}`)
          .join(', or ')
      : rights.join(' and ') || 'none';
  return `${name}: ${needed}${isOfDomain ? ', can be limited to domains' : ''}`;
}

/*
 * The sweep of rights takes what an operation declares as right. That a declaration is right is reviewed: each change of one is a line in the
 * diff of operation-rights.txt, which `npx vitest run test/gateway/admission/operation-rights.test.ts -u` writes.
 */
test('every route, field and tool needs the rights that are listed in operation-rights.txt', async () => {
  const { opened, routes: all } = await recordRoutes(openRoutesOnly);
  await opened.ready();
  const unserved = new Set(UNSERVED_ROUTES);
  const routes = all.filter(({ method, url }) => !unserved.has(`${method} ${url.replace('/api/e2', '')}`));
  const operations = [...listRoutes(routes), ...listFields(), ...listTools()].map(describeOperation);
  const open = routes
    .filter(({ url, access }) => url.startsWith('/api/e2') && access === null)
    .map(({ method, url }) => `${method} ${url.replace('/api/e2', '')}: no credential`);
  expect(operations.length).toBeGreaterThan(300);
  const lines = [...operations, ...open].toSorted();
  expect(lines).toEqual([...new Set(lines)]);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('operation-rights.txt');
  await opened.close();
});

test('a route that is the same as another one needs what that one needs', async () => {
  const { opened, routes } = await recordRoutes(openRoutesOnly);
  await opened.ready();
  const { paths = {} } = opened.swagger() as OpenAPIV3_1.Document;
  // Those of which the request decides have several; another route can be the same as one of them.
  const needs = new Map(
    listRoutes(routes).map(({ name, access: { rights, isOfDomain } }) => [
      name.replaceAll(/:(\w+)/g, '{$1}'),
      ('cases' in rights ? Object.values(rights.cases) : [rights]).map((each) => `${each.join()}, ${isOfDomain}`),
    ]),
  );
  const compared = routes.flatMap(({ method, url }) => {
    const path = url.replaceAll(/:(\w+)/g, '{$1}');
    const { description = '' } = paths[path]?.[method.toLowerCase() as 'get'] ?? {};
    const other = /^Same as ([A-Z]+ [\w/{}-]+)/.exec(description)?.[1];
    const name = `${method} ${path.replace('/api/e2', '')}`;
    return other === undefined ? [] : [{ name, own: needs.get(name), other, others: needs.get(other) }];
  });
  await opened.close();
  expect(compared.length).toBeGreaterThan(15);
  expect(compared.filter(({ own, others }) => !own?.every((each) => others?.includes(each)))).toEqual([]);
});
