import type { ExplicitConfig, GuardCriterion, PromptConfig } from '../../../core/routing/guard-config.ts';
import { builder } from '../builder.ts';
import { AuthenticationResult } from '../emails/authentication.ts';

const GuardOperator = builder.enumType('GuardOperator', {
  description: 'How many values of a criterion a mail has to meet.',
  values: {
    OR: { value: 'OR', description: 'One of them.' },
    AND: { value: 'AND', description: 'Each of them.' },
  } as const,
});

const GuardFormMode = builder.enumType('GuardFormMode', {
  description: 'How a form shows a rule. It means nothing to the rule.',
  values: {
    SIMPLE: { value: 'simple', description: 'In its simple form.' },
    ADVANCED: { value: 'advanced', description: 'In full.' },
  } as const,
});

const texts = {
  subject: 'Parts of the Subject field.',
  from: 'Addresses of the From field.',
  to: 'Addresses of To, Cc and the envelope: whole ones, or `*@domain`.',
  hasWords: 'Parts of the subject and the bodies.',
  hasAttachment: 'Whether there are attachments.',
  attachments: 'Attachments: `.exe`, `invoice*.pdf`, a part of a name, `application/pdf` or `image/*`.',
  spf: 'One of these results of SPF.',
  dkim: 'One of these results of DKIM; one good signature is PASS whatever the others are.',
  dmarc: 'One of these results of DMARC.',
  mode: 'How a form shows the rule.',
} as const;
const operator = 'How many of the values have to be met.';
const values = '1 to 100, each of at most 500 characters, in any case.';
const addresses = '1 to 100 addresses, whole or as `*@domain`.';
const aligned = 'Whether only mail counts for which DMARC passed for the domain of the address.';

const GuardCriterionRef = builder.objectRef<GuardCriterion>('GuardCriterion').implement({
  description: 'Values that a mail is compared with.',
  fields: (t) => ({
    operator: t.expose('operator', { type: GuardOperator, description: operator }),
    values: t.exposeStringList('values', { description: 'As you wrote them.' }),
  }),
});

const GuardSenderCriterion = builder.objectRef<NonNullable<ExplicitConfig['from']>>('GuardSenderCriterion').implement({
  description: 'Addresses that the From field is compared with.',
  fields: (t) => ({
    operator: t.expose('operator', { type: GuardOperator, description: operator }),
    values: t.exposeStringList('values', { description: 'Whole addresses, or `*@domain`.' }),
    isAligned: t.boolean({ description: aligned, resolve: (criterion) => criterion.aligned ?? false }),
  }),
});

const ExplicitGuardConfig = builder.objectRef<ExplicitConfig>('ExplicitGuardConfig').implement({
  description: 'What a rule asks of a mail; all that is not null has to be met.',
  fields: (t) => ({
    subject: t.field({
      type: GuardCriterionRef,
      nullable: true,
      description: texts.subject,
      resolve: (config) => config.subject ?? null,
    }),
    from: t.field({
      type: GuardSenderCriterion,
      nullable: true,
      description: texts.from,
      resolve: (config) => config.from ?? null,
    }),
    to: t.field({
      type: GuardCriterionRef,
      nullable: true,
      description: texts.to,
      resolve: (config) => config.to ?? null,
    }),
    hasWords: t.field({
      type: GuardCriterionRef,
      nullable: true,
      description: texts.hasWords,
      resolve: (config) => config.hasWords ?? null,
    }),
    hasAttachment: t.boolean({
      nullable: true,
      description: texts.hasAttachment,
      resolve: (config) => config.hasAttachment ?? null,
    }),
    attachments: t.field({
      type: GuardCriterionRef,
      nullable: true,
      description: texts.attachments,
      resolve: (config) => config.attachments ?? null,
    }),
    spf: t.field({
      type: [AuthenticationResult],
      nullable: true,
      description: texts.spf,
      resolve: (config) => config.spf ?? null,
    }),
    dkim: t.field({
      type: [AuthenticationResult],
      nullable: true,
      description: texts.dkim,
      resolve: (config) => config.dkim ?? null,
    }),
    dmarc: t.field({
      type: [AuthenticationResult],
      nullable: true,
      description: texts.dmarc,
      resolve: (config) => config.dmarc ?? null,
    }),
    mode: t.field({
      type: GuardFormMode,
      nullable: true,
      description: texts.mode,
      resolve: (config) => (config.mode === 'simple' || config.mode === 'advanced' ? config.mode : null),
    }),
  }),
});

const PromptGuardConfig = builder.objectRef<PromptConfig>('PromptGuardConfig').implement({
  description: 'What a model is asked of a mail.',
  fields: (t) => ({ prompt: t.exposeString('prompt', { description: 'What it shall decide, in words.' }) }),
});

/** What a rule asks, by its type. */
export const GuardConfigUnion = builder.unionType('GuardConfig', {
  description: 'What a rule asks of a mail, by the type of the rule.',
  types: [ExplicitGuardConfig, PromptGuardConfig],
  resolveType: (config) => ('prompt' in config ? PromptGuardConfig : ExplicitGuardConfig),
});

const GuardCriterionInput = builder.inputType('GuardCriterionInput', {
  description: 'Values that a mail shall be compared with.',
  fields: (t) => ({
    operator: t.field({ type: GuardOperator, required: true, defaultValue: 'OR', description: operator }),
    values: t.stringList({ required: true, description: values }),
  }),
});

const GuardSenderCriterionInput = builder.inputType('GuardSenderCriterionInput', {
  description: 'Addresses that the From field shall be compared with.',
  fields: (t) => ({
    operator: t.field({ type: GuardOperator, required: true, defaultValue: 'OR', description: operator }),
    values: t.stringList({ required: true, description: addresses }),
    isAligned: t.boolean({ description: `${aligned} Null: any mail.` }),
  }),
});

/** What a rule shall ask, of either type. */
export const GuardConfigInput = builder.inputType('GuardConfigInput', {
  description:
    'What a rule shall ask of a mail: at least one criterion for type EXPLICIT, the prompt for type AI_PROMPT.',
  fields: (t) => ({
    subject: t.field({ type: GuardCriterionInput, description: texts.subject }),
    from: t.field({ type: GuardSenderCriterionInput, description: texts.from }),
    to: t.field({ type: GuardCriterionInput, description: texts.to }),
    hasWords: t.field({ type: GuardCriterionInput, description: texts.hasWords }),
    hasAttachment: t.boolean({ description: texts.hasAttachment }),
    attachments: t.field({ type: GuardCriterionInput, description: texts.attachments }),
    spf: t.field({ type: [AuthenticationResult], description: texts.spf }),
    dkim: t.field({ type: [AuthenticationResult], description: texts.dkim }),
    dmarc: t.field({ type: [AuthenticationResult], description: texts.dmarc }),
    mode: t.field({ type: GuardFormMode, description: texts.mode }),
    prompt: t.string({ description: 'Of type AI_PROMPT: what a model shall decide, 1 to 4,000 characters.' }),
  }),
});

/** The config as core/routing/guard-config.ts checks it. */
export function guardConfigOf(input: typeof GuardConfigInput.$inferInput): Record<string, unknown> {
  const { from, ...config } = input;
  if (from == null) return config;
  const { isAligned, ...criterion } = from;
  return { ...config, from: { ...criterion, ...(isAligned == null ? {} : { aligned: isAligned }) } };
}
