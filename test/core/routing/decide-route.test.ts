import { expect, test } from 'vitest';
import {
  decideRoute,
  normalRoute,
  type RouteDecision,
  type RouteFacts,
  type RouteTarget,
} from '../../../core/routing/decide-route.ts';
import { explainRoute } from '../../../core/routing/explain-route.ts';
import type { GuardRule, GuardVerdict } from '../../../core/routing/guard-rule.ts';

const target = (id: string, changes: Partial<RouteTarget> = {}): RouteTarget => ({
  id,
  isActive: true,
  events: ['email.received'],
  filter: null,
  ...changes,
});
const endpoints: Record<string, RouteTarget> = {
  ep_a: target('ep_a'),
  ep_w: target('ep_w'),
  ep_c: target('ep_c'),
  ep_off: target('ep_off', { isActive: false }),
  ep_all: target('ep_all', { events: ['*'] }),
  ep_bounces: target('ep_bounces', { events: ['email.bounced'] }),
  ep_here: target('ep_here', { filter: { domains: ['box.test'], addresses: [] } }),
  ep_elsewhere: target('ep_elsewhere', { filter: { domains: [], addresses: ['other@box.test'] } }),
};
const facts: RouteFacts = {
  ownAddress: 'hello@box.test',
  isDmarcReport: false,
  address: { isActive: true, endpointId: 'ep_a', webhookId: null },
  domain: { isCatchAllEnabled: true, catchAllEndpointId: 'ep_c', receivesDmarcEmails: false },
};
const address = (changes: Partial<NonNullable<RouteFacts['address']>>) => ({
  ...facts,
  address: { isActive: true, endpointId: null, webhookId: null, ...changes },
});
const find = (endpointId: string) => endpoints[endpointId];
const route = (given: RouteFacts) => normalRoute(given, find);
const rule = (action: GuardRule['action'], endpointId: string | null = null): GuardRule => ({
  id: 'grd_1',
  name: 'Bills',
  type: 'explicit',
  config: { subject: { operator: 'OR', values: ['bill'] } },
  action,
  endpointId,
  priority: 0,
  createdAt: new Date(0),
});
const matches = [{ criteria: 'subject', value: 'bill' }];
const matched = (of: GuardRule, reason: string | null = null): GuardVerdict => ({
  kind: 'matched',
  rule: of,
  matches,
  reason,
});

test('the endpoint of the address comes first, then its legacy webhook, then the catch-all', () => {
  expect(route(facts)).toMatchObject({ outcome: 'endpoint', endpointId: 'ep_a', via: 'address', reason: null });
  expect(route(address({ webhookId: 'ep_w' }))).toMatchObject({ endpointId: 'ep_w', via: 'webhook' });
  expect(route(address({}))).toMatchObject({ endpointId: 'ep_c', via: 'catch-all' });
  expect(route({ ...facts, address: null })).toMatchObject({ endpointId: 'ep_c', via: 'catch-all' });
});

test('mail for an inactive address goes to the catch-all', () => {
  expect(route(address({ isActive: false, endpointId: 'ep_a' }))).toMatchObject({
    endpointId: 'ep_c',
    via: 'catch-all',
  });
});

test('an inactive endpoint ends the search, a deleted one does not', () => {
  expect(route(address({ endpointId: 'ep_off' }))).toMatchObject({
    outcome: 'inactive',
    endpointId: 'ep_off',
    via: 'address',
  });
  expect(route(address({ endpointId: 'ep_gone' }))).toMatchObject({ outcome: 'endpoint', endpointId: 'ep_c' });
});

const closed = { isCatchAllEnabled: false, catchAllEndpointId: 'ep_c', receivesDmarcEmails: false };
const open = { isCatchAllEnabled: true, catchAllEndpointId: 'ep_gone', receivesDmarcEmails: false };
test.each<[string, RouteFacts, string]>([
  [
    'no address, no catch-all',
    { ...facts, address: null, domain: closed },
    'No address matches the recipient, and the domain has no catch-all.',
  ],
  [
    'no domain',
    { ...facts, address: null, domain: null },
    'No address matches the recipient, and its domain no longer exists.',
  ],
  [
    'an address without endpoint',
    { ...address({}), domain: closed },
    'The address has no endpoint, and the domain has no catch-all.',
  ],
  [
    'an address that is off',
    { ...address({ isActive: false }), domain: closed },
    'The address is disabled, and the domain has no catch-all.',
  ],
  [
    'endpoints that are gone',
    { ...address({ endpointId: 'ep_gone' }), domain: open },
    'The address has no endpoint, and the catch-all of the domain has no valid endpoint. A configured endpoint no longer exists.',
  ],
  [
    'mail to dmarc@',
    { ...facts, ownAddress: 'dmarc@box.test' },
    'Mail to dmarc@ is only stored, because the domain does not route it (receiveDmarcEmails).',
  ],
  [
    'a report to another address',
    { ...facts, address: null, isDmarcReport: true },
    'The mail is a DMARC report, and the domain does not route those to its catch-all (receiveDmarcEmails).',
  ],
])('%s: the mail is only stored, and the reason says why', (_, given, reason) => {
  expect(route(given)).toEqual({ outcome: 'stored', via: null, endpointId: null, reason });
});

test('DMARC reports reach the catch-all if the domain routes them, and always the endpoint of an address', () => {
  const asking = { isCatchAllEnabled: true, catchAllEndpointId: 'ep_c', receivesDmarcEmails: true };
  expect(route({ ...facts, ownAddress: 'dmarc@box.test', domain: asking })).toMatchObject({ outcome: 'endpoint' });
  expect(route({ ...facts, address: null, isDmarcReport: true, domain: asking })).toMatchObject({ endpointId: 'ep_c' });
  expect(route({ ...facts, isDmarcReport: true })).toMatchObject({ endpointId: 'ep_a' });
});

const names = { ownAddress: 'hello@a.test', rule: 'Bills', endpoint: 'Shop', isReleased: false };
test.each<[string, GuardVerdict, Partial<RouteDecision>, string]>([
  [
    'no rule',
    { kind: 'none' },
    { outcome: 'endpoint', via: 'address', endpointId: 'ep_a', ruleId: null, matches: null },
    'The address hello@a.test routes to the endpoint “Shop”.',
  ],
  [
    'allow',
    matched(rule('allow')),
    { outcome: 'endpoint', via: 'address', endpointId: 'ep_a', ruleId: 'grd_1', matches },
    'It matched the guard rule “Bills”. The address hello@a.test routes to the endpoint “Shop”.',
  ],
  [
    'block',
    matched(rule('block')),
    { outcome: 'blocked', via: null, endpointId: null, ruleId: 'grd_1', matches },
    'The guard rule “Bills” blocked this mail. It can be released.',
  ],
  [
    'block by a model',
    matched(rule('block'), 'It sells pills.'),
    { outcome: 'blocked', reason: 'It sells pills.' },
    'The guard rule “Bills” blocked this mail. It sells pills. It can be released.',
  ],
  [
    'route',
    matched(rule('route', 'ep_w')),
    { outcome: 'endpoint', via: 'guard-rule', endpointId: 'ep_w', ruleId: 'grd_1', matches },
    'The guard rule “Bills” routes to the endpoint “Shop”.',
  ],
  [
    'route to an inactive endpoint',
    matched(rule('route', 'ep_off')),
    { outcome: 'endpoint', via: 'address', endpointId: 'ep_a', ruleId: 'grd_1' },
    'It matched the guard rule “Bills”. The endpoint ep_off of the guard rule is disabled, so the rule has no effect. The address hello@a.test routes to the endpoint “Shop”.',
  ],
  [
    'route to an endpoint that is gone',
    matched(rule('route', 'ep_gone')),
    { outcome: 'endpoint', via: 'address', endpointId: 'ep_a' },
    'It matched the guard rule “Bills”. The endpoint of the guard rule no longer exists, so the rule has no effect. The address hello@a.test routes to the endpoint “Shop”.',
  ],
  [
    'a model to be asked',
    { kind: 'ask', rule: rule('block') },
    { outcome: 'asking', via: null, endpointId: null, ruleId: 'grd_1' },
    'The model of the guard rule “Bills” has not decided yet whether this mail matches.',
  ],
  [
    'a model that failed',
    { kind: 'review', rule: rule('block'), reason: 'the model responded with status 500' },
    { outcome: 'review', endpointId: null, ruleId: 'grd_1', reason: 'the model responded with status 500' },
    'This mail is held for review, because the model of the guard rule “Bills” did not respond: the model responded with status 500. It can be released.',
  ],
])('%s decides the route and is explained', (_, verdict, expected, sentence) => {
  const decision = decideRoute(facts, verdict, find);
  expect(decision).toMatchObject(expected);
  expect(explainRoute(decision, names)).toBe(sentence);
});

test('deleted objects are named by id, and every outcome is a sentence', () => {
  const gone = { ownAddress: 'hello@a.test', rule: null, endpoint: null, isReleased: false };
  expect(explainRoute(decideRoute(facts, matched(rule('block')), find), gone)).toBe(
    'The guard rule grd_1 (deleted) blocked this mail. It can be released.',
  );
  const off = decideRoute(address({ endpointId: 'ep_off' }), { kind: 'none' }, find);
  expect(explainRoute(off, gone)).toBe(
    'The address hello@a.test routes to the endpoint ep_off (deleted), which is disabled: the mail is only stored.',
  );
  const nowhere = decideRoute({ ...facts, address: null, domain: closed }, { kind: 'none' }, find);
  expect(explainRoute(nowhere, gone)).toBe(
    'No address matches the recipient, and the domain has no catch-all. It is stored and not delivered.',
  );
  expect(explainRoute(decideRoute(facts, matched(rule('block')), find), { ...names, isReleased: true })).toBe(
    'The guard rule “Bills” blocked this mail. It has been released since.',
  );
});

test.each([
  ['ep_all', 'endpoint'],
  ['ep_here', 'endpoint'],
  ['ep_bounces', 'stored'],
  ['ep_elsewhere', 'stored'],
])('mail that is routed to %s, with its events and filter: %s', (endpointId, outcome) => {
  expect(route(address({ endpointId }))).toMatchObject({
    outcome,
    reason:
      outcome === 'endpoint'
        ? null
        : expect.stringMatching(new RegExp(`of the endpoint ${endpointId} leaves? out this mail`)),
  });
  const byRule = decideRoute(address({ endpointId: 'ep_a' }), matched(rule('route', endpointId)), find);
  expect(byRule).toMatchObject({ outcome: 'endpoint', endpointId: outcome === 'endpoint' ? endpointId : 'ep_a' });
});
