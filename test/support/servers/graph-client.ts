import { expect } from 'vitest';
import { mutate } from '../stages/graph-results.ts';
import type { TestGateway } from './gateway.ts';

export type GraphClient = ReturnType<typeof graphClient>;

/** A client of the graph with one account's key. Its responses fail the test when they have `errors`; their form is the query's. */
export function graphClient(gateway: TestGateway, key: string) {
  return {
    async ask(query: string, variables?: Record<string, unknown>) {
      const { data, errors } = (await gateway.graphql(key, query, variables)).json();
      expect(errors, query).toBeUndefined();
      return data;
    },
    /** The fields of the payload that are selected, or what the error of the union says; by `__typename`. */
    async mutate(name: string, input: Record<string, unknown>, selection = '__typename') {
      const { errors, ...response } = await mutate(gateway, key, name, input, selection);
      expect(errors, name).toBeUndefined();
      return response;
    },
  };
}
