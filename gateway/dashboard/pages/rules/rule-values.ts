import type { graphql } from '../../graphql.ts';
import type { Rule } from './rule-documents.ts';

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
