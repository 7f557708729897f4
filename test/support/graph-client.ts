import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import type { TestGateway } from './gateway.ts';
import { mutate } from './graph-results.ts';

/** What is selected differs by query. */
type Selected = ReturnType<LightMyRequestResponse['json']>;

/** A client of the graph with one account's key. Its answers fail the test when they have `errors`. */
export interface GraphClient {
  ask: (query: string, variables?: Record<string, unknown>) => Promise<Selected>;
  /** The fields of the payload that are selected, or what the error of the union says; by `__typename`. */
  mutate: (name: string, input: Record<string, unknown>, selection?: string) => Promise<Selected>;
}

export function graphClient(gateway: TestGateway, key: string): GraphClient {
  return {
    async ask(query, variables) {
      const { data, errors } = (await gateway.graphql(key, query, variables)).json();
      expect(errors, query).toBeUndefined();
      return data;
    },
    async mutate(name, input, selection = '__typename') {
      const { errors, ...answer } = await mutate(gateway, key, name, input, selection);
      expect(errors, name).toBeUndefined();
      return answer;
    },
  };
}
