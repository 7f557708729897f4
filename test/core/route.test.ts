import { expect, test } from 'vitest';
import { chooseRoute, type RouteFacts } from '../../core/route.ts';

const endpoints: Record<string, { id: string; isActive: boolean }> = {
  ep_a: { id: 'ep_a', isActive: true },
  ep_w: { id: 'ep_w', isActive: true },
  ep_c: { id: 'ep_c', isActive: true },
  ep_off: { id: 'ep_off', isActive: false },
};
const facts: RouteFacts = {
  localPart: 'hello',
  address: { isActive: true, endpointId: 'ep_a', webhookId: null },
  domain: { isCatchAllEnabled: true, catchAllEndpointId: 'ep_c', receivesDmarcEmails: false },
};
const address = (changes: Partial<NonNullable<RouteFacts['address']>>) => ({
  ...facts,
  address: { isActive: true, endpointId: null, webhookId: null, ...changes },
});
const route = (given: RouteFacts) => chooseRoute(given, (endpointId) => endpoints[endpointId]);

test("the address' endpoint comes first, then its legacy webhook, then the catch-all", () => {
  expect(route(facts)).toEqual({ kind: 'endpoint', endpointId: 'ep_a', by: 'address' });
  expect(route(address({ webhookId: 'ep_w' }))).toEqual({ kind: 'endpoint', endpointId: 'ep_w', by: 'webhook' });
  expect(route(address({}))).toEqual({ kind: 'endpoint', endpointId: 'ep_c', by: 'catch-all' });
  expect(route({ ...facts, address: null })).toEqual({ kind: 'endpoint', endpointId: 'ep_c', by: 'catch-all' });
});

test('an inactive address leaves its mail to the catch-all', () => {
  expect(route(address({ isActive: false, endpointId: 'ep_a' }))).toMatchObject({
    endpointId: 'ep_c',
    by: 'catch-all',
  });
});

test('an inactive endpoint ends the search, one that is gone does not', () => {
  expect(route(address({ endpointId: 'ep_off' }))).toEqual({ kind: 'inactive', endpointId: 'ep_off', by: 'address' });
  expect(route(address({ endpointId: 'ep_gone' }))).toMatchObject({ endpointId: 'ep_c' });
});

test('without any endpoint the mail is stored only', () => {
  const domain = { isCatchAllEnabled: false, catchAllEndpointId: 'ep_c', receivesDmarcEmails: false };
  expect(route({ localPart: 'x', address: null, domain })).toEqual({ kind: 'none' });
  expect(route({ localPart: 'x', address: null, domain: null })).toEqual({ kind: 'none' });
});

test('reports to dmarc@ are routed only where the domain asks for them', () => {
  expect(route({ ...facts, localPart: 'dmarc' })).toEqual({ kind: 'none' });
  const asking = { isCatchAllEnabled: true, catchAllEndpointId: 'ep_c', receivesDmarcEmails: true };
  expect(route({ ...facts, localPart: 'dmarc', domain: asking })).toMatchObject({ kind: 'endpoint' });
});
