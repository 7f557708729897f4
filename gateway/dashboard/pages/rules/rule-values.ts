import type { Rule, RuleInput } from './rule-documents.ts';

const RESULTS = ['PASS', 'FAIL', 'SOFTFAIL', 'NEUTRAL', 'NONE', 'TEMPERROR', 'PERMERROR', 'POLICY'] as const;
type Result = (typeof RESULTS)[number];

/** Results of SPF, DKIM and DMARC, for selects. */
export const results = RESULTS.map((value) => ({ value, label: value.toLowerCase() }));

const SPAM_VERDICTS = ['CLEAN', 'SUSPECTED', 'SPAM', 'NOT_CHECKED'] as const;
type SpamVerdict = (typeof SPAM_VERDICTS)[number];

/** Verdicts of the spam filter, for selects. */
export const spamVerdicts = SPAM_VERDICTS.map((value) => ({ value, label: value.toLowerCase().replace('_', ' ') }));

/** Values of the rule's form. An empty list is no criterion. */
export interface RuleValues {
  name: string;
  description: string;
  type: 'EXPLICIT' | 'AI_PROMPT';
  action: 'ALLOW' | 'BLOCK' | 'ROUTE';
  endpointId: string | null;
  priority: number;
  isActive: boolean;
  from: string[];
  isAligned: boolean;
  to: string[];
  subject: string[];
  hasWords: string[];
  attachments: string[];
  hasAttachment: 'any' | 'yes' | 'no';
  spf: Result[];
  dkim: Result[];
  dmarc: Result[];
  injection: 'any' | 'REVIEW' | 'CLEAR';
  spam: SpamVerdict[];
  /** empty: no limit */
  minSpamScore: number | '';
  prompt: string;
}

/** Returns the initial values of the form, for an existing or a new rule. */
export function valuesOf(rule: Rule | null): RuleValues {
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
    injection: explicit?.injection ?? 'any',
    spam: [...(explicit?.spam ?? [])],
    minSpamScore: explicit?.minSpamScore ?? '',
    prompt: config?.__typename === 'PromptGuardConfig' ? config.prompt : '',
  };
}

/** Returns the mutation input. How many values of a criterion must match stays as in `rule`; a new rule needs any one. */
export function inputOf(values: RuleValues, rule: Rule | null): RuleInput {
  const explicit = rule?.config.__typename === 'ExplicitGuardConfig' ? rule.config : null;
  const criterion = (name: 'to' | 'subject' | 'hasWords' | 'attachments') =>
    values[name].length === 0
      ? null
      : { operator: explicit?.[name]?.operator ?? ('OR' as const), values: values[name] };
  const config =
    values.type === 'AI_PROMPT'
      ? { prompt: values.prompt }
      : {
          from:
            values.from.length === 0
              ? null
              : {
                  operator: explicit?.from?.operator ?? ('OR' as const),
                  values: values.from,
                  isAligned: values.isAligned,
                },
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
  return {
    name: values.name,
    description: values.description === '' ? null : values.description,
    type: values.type,
    config,
    action: { action: values.action, endpointId: values.action === 'ROUTE' ? values.endpointId : null },
    priority: values.priority,
    isActive: values.isActive,
  };
}

/** Whether a rule of criteria has none. */
export function hasNoCriteria(values: RuleValues): boolean {
  return Object.values(inputOf(values, null).config).every((criterion) => criterion === null);
}

function orNull<T>(list: T[]): T[] | null {
  return list.length === 0 ? null : list;
}
