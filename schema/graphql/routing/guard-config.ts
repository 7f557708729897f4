import type { ExplicitConfig, GuardCriterion, PromptConfig } from '../../../core/routing/guard-config.ts';
import { authenticationResult, injectionVerdict, spamVerdict } from '../../../operations/emails/finding-shapes.ts';
import { builder, enumValues } from '../builder.ts';
import { addInputType, addOutputType, typeFor } from '../capability-shapes.ts';
import { EmailNode, GuardRuleNode } from '../nodes.ts';

const AuthenticationResult = typeFor(authenticationResult);
const InjectionVerdict = typeFor(injectionVerdict);
const SpamVerdict = typeFor(spamVerdict);

const GuardOperator = builder.enumType('GuardOperator', {
  description: 'How many values of a criterion must match.',
  values: enumValues({
    OR: 'Any value.',
    AND: 'All values.',
  }),
});

const GuardFormMode = builder.enumType('GuardFormMode', {
  description: 'How a form displays a rule. Does not affect matching.',
  values: enumValues({
    simple: 'As a simple form.',
    advanced: 'With all options.',
  }),
});

const texts = {
  subject: 'Text in the subject.',
  from: 'Addresses in the From header.',
  to: 'Addresses in To, Cc and the envelope, or `*@domain`.',
  hasWords: 'Text in the subject or body.',
  hasAttachment: 'Whether the email has attachments.',
  attachments:
    'Attachments, by extension (`.exe`), name pattern (`invoice*.pdf`), part of a name, or type (`application/pdf`, `image/*`).',
  spf: 'SPF results that match.',
  dkim: 'DKIM results that match. One valid signature counts as PASS, whatever the others are.',
  dmarc: 'DMARC results that match.',
  injection: 'Verdict of the screening for text that is aimed at an agent.',
  spam: 'Verdicts of the spam filter, of which one must match.',
  minSpamScore: 'Least score of the spam filter, -1,000 to 1,000. Mail that was not checked has no score.',
  mode: 'How a form displays the rule.',
} as const;
const operator = 'Whether any or all values must match.';
const values = '1 to 100 values of up to 500 characters, case-insensitive.';
const addresses = '1 to 100 addresses, or `*@domain` for a whole domain.';
const aligned = 'True matches only mail that passed DMARC for the domain of the address.';

const GuardCriterionRef = builder.objectRef<GuardCriterion>('GuardCriterion').implement({
  description: 'A criterion that compares an email with values.',
  fields: (t) => ({
    operator: t.expose('operator', { type: GuardOperator, description: operator }),
    values: t.exposeStringList('values', { description: 'The values as you entered them.' }),
  }),
});

const GuardSenderCriterion = builder.objectRef<NonNullable<ExplicitConfig['from']>>('GuardSenderCriterion').implement({
  description: 'A criterion that compares the From header with addresses.',
  fields: (t) => ({
    operator: t.expose('operator', { type: GuardOperator, description: operator }),
    values: t.exposeStringList('values', { description: 'Email addresses, or `*@domain` for a whole domain.' }),
    isAligned: t.boolean({ description: aligned, resolve: (criterion) => criterion.aligned ?? false }),
  }),
});

const ExplicitGuardConfig = builder.objectRef<ExplicitConfig>('ExplicitGuardConfig').implement({
  description: 'Criteria of an EXPLICIT rule. All criteria that are not null must match.',
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
    injection: t.field({
      type: InjectionVerdict,
      nullable: true,
      description: texts.injection,
      resolve: (config) => config.injection ?? null,
    }),
    spam: t.field({
      type: [SpamVerdict],
      nullable: true,
      description: texts.spam,
      resolve: (config) => config.spam ?? null,
    }),
    minSpamScore: t.float({
      nullable: true,
      description: texts.minSpamScore,
      resolve: (config) => config.minSpamScore ?? null,
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
  description: 'Configuration of an AI_PROMPT rule.',
  fields: (t) => ({ prompt: t.exposeString('prompt', { description: 'The question for the language model.' }) }),
});

const GuardConfigUnion = builder.unionType('GuardConfig', {
  description: 'Configuration of a guard rule; depends on the type of the rule.',
  types: [ExplicitGuardConfig, PromptGuardConfig],
  resolveType: (config) => ('prompt' in config ? PromptGuardConfig : ExplicitGuardConfig),
});

const GuardCriterionInput = builder.inputType('GuardCriterionInput', {
  description: 'A criterion that compares an email with values.',
  fields: (t) => ({
    operator: t.field({ type: GuardOperator, required: true, defaultValue: 'OR', description: operator }),
    values: t.stringList({ required: true, description: values }),
  }),
});

const GuardSenderCriterionInput = builder.inputType('GuardSenderCriterionInput', {
  description: 'A criterion that compares the From header with addresses.',
  fields: (t) => ({
    operator: t.field({ type: GuardOperator, required: true, defaultValue: 'OR', description: operator }),
    values: t.stringList({ required: true, description: addresses }),
    isAligned: t.boolean({ description: `${aligned} Null matches any mail.` }),
  }),
});

const GuardConfigInput = builder.inputType('GuardConfigInput', {
  description:
    'Configuration of a guard rule: at least one criterion for type EXPLICIT, or the prompt for type AI_PROMPT.',
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
    injection: t.field({ type: InjectionVerdict, description: texts.injection }),
    spam: t.field({ type: [SpamVerdict], description: texts.spam }),
    minSpamScore: t.float({ description: texts.minSpamScore }),
    mode: t.field({ type: GuardFormMode, description: texts.mode }),
    prompt: t.string({
      description: 'For type AI_PROMPT: the question for the language model, 1 to 4,000 characters.',
    }),
  }),
});

/** Converts the input to the config that core/routing/guard-config.ts validates. */
function guardConfigOf(input: typeof GuardConfigInput.$inferInput): Record<string, unknown> {
  const { from, ...config } = input;
  if (from == null) return config;
  const { isAligned, ...criterion } = from;
  return { ...config, from: { ...criterion, ...(isAligned == null ? {} : { aligned: isAligned }) } };
}

addOutputType('GuardConfig', GuardConfigUnion);
addInputType('GuardConfigInput', GuardConfigInput, guardConfigOf);

builder.objectField(EmailNode, 'guardRule', (t) =>
  t.field({
    type: GuardRuleNode,
    nullable: true,
    description:
      'The rule that matched or whose model did not respond, whatever happened to the email since. Null if there is none or it was deleted.',
    resolve: ({ guardRuleId }) => guardRuleId,
  }),
);
