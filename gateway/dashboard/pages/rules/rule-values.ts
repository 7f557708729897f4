import { graphql, mutation, type ResultOf } from '../../graphql.ts';

/** All rules in the order of evaluation. */
export const RULES = graphql(`
  query DashboardRules {
    guardRules(first: 90) {
      edges {
        node {
          __typename id name description type action priority isActive triggerCount lastTriggeredAt
          endpoint { __typename id name }
          config {
            __typename
            ... on ExplicitGuardConfig {
              subject { operator values }
              from { operator values isAligned }
              to { operator values }
              hasWords { operator values }
              attachments { operator values }
              hasAttachment spf dkim dmarc injection spam minSpamScore
            }
            ... on PromptGuardConfig { prompt }
          }
        }
      }
      pageInfo { hasNextPage }
    }
    guardLimits { hasModel maxPriority maxRules }
  }
`);

/** A rule in the list. */
export type Rule = ResultOf<typeof RULES>['guardRules']['edges'][number]['node'];

/** Changes a rule. Absent fields stay unchanged. */
export const UPDATE_RULE = mutation('updateGuardRule', 'guardRule { __typename id priority isActive }');

type RuleInput = ReturnType<typeof graphql.scalar<'CreateGuardRuleInput'>>;
type Explicit = Extract<Rule['config'], { __typename: 'ExplicitGuardConfig' }>;

/** Values of the rule's form. An empty list is no criterion, and so is an empty score. */
export type RuleValues = ReturnType<typeof readValues>;

/** Returns the initial values of the form, for an existing or a new rule. */
export function readValues(rule: Rule | null) {
  const config = rule?.config;
  const explicit = config?.__typename === 'ExplicitGuardConfig' ? config : null;
  const list = (criterion: { values: readonly string[] } | null | undefined) => [...(criterion?.values ?? [])];
  return {
    name: rule?.name ?? '',
    description: rule?.description ?? '',
    type: rule?.type ?? 'EXPLICIT',
    action: rule?.action ?? 'BLOCK',
    endpointId: rule?.endpoint?.id ?? null,
    priority: rule?.priority ?? 0,
    isActive: rule?.isActive ?? true,
    from: list(explicit?.from),
    isAligned: explicit?.from?.isAligned ?? false,
    to: list(explicit?.to),
    subject: list(explicit?.subject),
    hasWords: list(explicit?.hasWords),
    attachments: list(explicit?.attachments),
    hasAttachment: explicit?.hasAttachment == null ? 'any' : explicit.hasAttachment ? 'yes' : 'no',
    spf: [...(explicit?.spf ?? [])],
    dkim: [...(explicit?.dkim ?? [])],
    dmarc: [...(explicit?.dmarc ?? [])],
    injection: explicit?.injection ?? ('any' as const),
    spam: [...(explicit?.spam ?? [])],
    minSpamScore: explicit?.minSpamScore ?? ('' as const),
    prompt: config?.__typename === 'PromptGuardConfig' ? config.prompt : '',
  };
}

/** Returns the mutation input. How many values of a criterion must match stays as in `rule`; a new rule needs any one. */
export function writeInput(values: RuleValues, rule: Rule | null): RuleInput {
  const { name, description, type, action, endpointId, priority, isActive, prompt } = values;
  return {
    name,
    description: description || null,
    type,
    config: type === 'AI_PROMPT' ? { prompt } : writeCriteria(values, rule),
    action: { action, endpointId: action === 'ROUTE' ? endpointId : null },
    priority,
    isActive,
  };
}

function writeCriteria(values: RuleValues, rule: Rule | null) {
  const explicit: Explicit | null = rule?.config.__typename === 'ExplicitGuardConfig' ? rule.config : null;
  const criterion = (name: 'from' | 'to' | 'subject' | 'hasWords' | 'attachments') =>
    values[name].length === 0
      ? null
      : { operator: explicit?.[name]?.operator ?? ('OR' as const), values: values[name] };
  const from = criterion('from');
  return {
    from: from && { ...from, isAligned: values.isAligned },
    to: criterion('to'),
    subject: criterion('subject'),
    hasWords: criterion('hasWords'),
    attachments: criterion('attachments'),
    hasAttachment: values.hasAttachment === 'any' ? null : values.hasAttachment === 'yes',
    spf: orNull(values.spf),
    dkim: orNull(values.dkim),
    dmarc: orNull(values.dmarc),
    injection: values.injection === 'any' ? null : values.injection,
    spam: orNull(values.spam),
    minSpamScore: values.minSpamScore === '' ? null : values.minSpamScore,
  };
}

/** Whether a rule of criteria has none. */
export function hasNoCriteria(values: RuleValues): boolean {
  return Object.values(writeCriteria(values, null)).every((criterion) => criterion === null);
}

function orNull<T>(list: T[]): T[] | null {
  return list.length === 0 ? null : list;
}

type Placed = { id: string; priority: number };

/** Distance of the first and last rule from their neighbor, which leaves room for others. */
const ROOM = 10;

/**
 * Returns the changes of priorities (higher is evaluated first) that produce this order, in which the rule at `moved` was moved. Changes
 * only that rule if there is room between its neighbors, otherwise each rule that is not below its predecessor. Priorities are between
 * -most and most.
 */
export function setPriorities(order: readonly Placed[], moved: number, most: number): Placed[] {
  const rule = order[moved];
  if (rule === undefined) return [];
  const before = order[moved - 1]?.priority ?? null;
  const after = order[moved + 1]?.priority ?? null;
  const alone =
    before !== null && after !== null
      ? Math.floor((before + after) / 2)
      : before !== null
        ? Math.max(-most, before - ROOM)
        : Math.min(most, (after ?? 0) + ROOM);
  if ((before === null || alone < before) && (after === null || alone > after))
    return [{ id: rule.id, priority: alone }];
  const changes: Placed[] = [];
  let bound = most + 1;
  for (const [at, { id, priority }] of order.entries()) {
    const rest = order.length - at - 1;
    // Below the previous one, with room above the minimum for later ones.
    const wanted = Math.max(rest - most, Math.min(priority, bound - 1));
    if (wanted !== priority) changes.push({ id, priority: wanted });
    bound = wanted;
  }
  return changes;
}
