import { describe, expect, test } from 'vitest';
import { decideJudged, judgeMail, triedRules } from '../../../core/routing/decide-route.ts';
import type { GuardFacts, GuardRule } from '../../../core/routing/guard-rule.ts';

const facts: GuardFacts = {
  subject: 'tea',
  from: [],
  to: [],
  text: 'tea',
  attachments: [],
  authentication: null,
  injection: null,
  spam: { verdict: 'not_checked', score: null },
};
const explicit = (id: string, priority: number, config: object): GuardRule =>
  ({
    id,
    name: id,
    action: 'block',
    endpointId: null,
    priority,
    createdAt: new Date(0),
    type: 'explicit',
    config,
  }) as GuardRule;
const bySubject = (id: string, priority: number, value: string) =>
  explicit(id, priority, { subject: { operator: 'OR', values: [value] } });
const asking = {
  ...explicit('model', 0, {}),
  type: 'ai_prompt',
  config: { prompt: 'Is it about tea?' },
} as GuardRule;
const knowledge = { verdicts: new Map(), hasModel: true };

describe('a message', () => {
  test('that no rule matches passes', () => {
    const judgement = judgeMail([bySubject('a', 1, 'coffee')], { facts, isParsed: true }, knowledge);
    expect(judgement.verdict?.kind).toBe('none');
  });

  test('that could not be parsed is held if a rule needs its content', () => {
    const inside = explicit('words', 1, { hasWords: { operator: 'OR', values: ['coffee'] } });
    const judgement = judgeMail([inside], { facts, isParsed: false }, knowledge);
    expect(judgement).toEqual({ verdict: null, reason: expect.stringContaining('could not be parsed') });
    const route = { ownAddress: 'a@box.test', isDmarcReport: false, address: null, domain: null };
    expect(decideJudged(judgement, route, () => undefined)).toMatchObject({ outcome: 'review', ruleId: null });
    expect(judgeMail([bySubject('a', 2, 'tea'), inside], { facts, isParsed: false }, knowledge).verdict?.kind).toBe(
      'matched',
    );
  });

  test('that needs a model is held when there is none', () => {
    expect(judgeMail([asking], { facts, isParsed: true }, knowledge).verdict?.kind).toBe('ask');
    const without = judgeMail([asking], { facts, isParsed: true }, { ...knowledge, hasModel: false });
    expect(without.verdict).toMatchObject({ kind: 'review', reason: 'no model is configured' });
  });
});

test('lists rules in order, each with its result', () => {
  const rules = [bySubject('last', 0, 'tea'), bySubject('second', 5, 'tea'), bySubject('first', 9, 'coffee')];
  const judgement = judgeMail(rules, { facts, isParsed: true }, knowledge);
  expect(triedRules(rules, judgement, new Map()).map(({ id, outcome }) => [id, outcome])).toEqual([
    ['first', 'not-matched'],
    ['second', 'matched'],
    ['last', 'not-reached'],
  ]);
});
