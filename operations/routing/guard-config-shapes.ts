import { z } from 'zod';
import { named, nameType } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { authenticationResult, injectionVerdict, spamVerdict } from '../emails/finding-shapes.ts';

/** The configuration of guard rules in GraphQL. REST takes and returns it as core/routing/guard-config.ts has it. */

const operator = oneOf(['OR', 'AND'], {
  name: 'GuardOperator',
  description: 'How many values of a criterion must match.',
  values: { OR: 'Any value.', AND: 'All values.' },
});
const OPERATOR = 'Whether any or all values must match.';
const ALIGNED = 'True matches only mail that passed DMARC for the domain of the address.';

const mode = oneOf(['simple', 'advanced'], {
  name: 'GuardFormMode',
  description: 'How a form displays a rule. Does not affect matching.',
  values: { simple: 'As a simple form.', advanced: 'With all options.' },
});

/** Returns the criteria of a rule, from the shapes of one criterion and of that of the sender. */
function makeCriteria<Criterion extends z.ZodType, Sender extends z.ZodType>(criterion: Criterion, sender: Sender) {
  const results = z.array(authenticationResult).nullish();
  return {
    subject: criterion.nullish().meta({ description: 'Text in the subject.' }),
    from: sender.nullish().meta({ description: 'Addresses in the From header.' }),
    to: criterion.nullish().meta({ description: 'Addresses in To, Cc and the envelope, or `*@domain`.' }),
    hasWords: criterion.nullish().meta({ description: 'Text in the subject or body.' }),
    hasAttachment: z.boolean().nullish().meta({ description: 'Whether the email has attachments.' }),
    attachments: criterion.nullish().meta({
      description:
        'Attachments, by extension (`.exe`), name pattern (`invoice*.pdf`), part of a name, or type (`application/pdf`, `image/*`).',
    }),
    spf: results.meta({ description: 'SPF results that match.' }),
    dkim: results.meta({
      description: 'DKIM results that match. One valid signature counts as PASS, whatever the others are.',
    }),
    dmarc: results.meta({ description: 'DMARC results that match.' }),
    injection: injectionVerdict.nullish().meta({
      description:
        'Verdict of the screening for text that is aimed at an agent. Mail that was not screened counts as `review`.',
    }),
    spam: z.array(spamVerdict).nullish().meta({
      description: 'Verdicts of the spam filter, of which one must match.',
    }),
    minSpamScore: z.number().nullish().meta({
      description: 'Least score of the spam filter, -1,000 to 1,000. Mail that was not checked has no score.',
    }),
    mode: mode.nullish().meta({ description: 'How a form displays the rule.' }),
  };
}

const criterion = nameType(
  z.object({
    operator: operator.meta({ description: OPERATOR }),
    values: z.array(z.string()).meta({ description: 'The values as you entered them.' }),
  }),
  { type: 'GuardCriterion', description: 'A criterion that compares an email with values.' },
);

const senderCriterion = nameType(
  z.object({
    operator: operator.meta({ description: OPERATOR }),
    values: z.array(z.string()).meta({ description: 'Email addresses, or `*@domain` for a whole domain.' }),
    aligned: named(z.boolean(), { graphqlName: 'isAligned' }).meta({ description: ALIGNED }),
  }),
  { type: 'GuardSenderCriterion', description: 'A criterion that compares the From header with addresses.' },
);

export const explicitConfig = z.object(makeCriteria(criterion, senderCriterion)).meta({
  description: 'Criteria of an EXPLICIT rule. All criteria that are not null must match.',
});

export const promptConfig = z
  .object({ prompt: z.string().meta({ description: 'The question for the language model.' }) })
  .meta({ description: 'Configuration of an AI_PROMPT rule.' });

const operatorInput = operator.default('OR').meta({ description: OPERATOR });

const criterionInput = nameType(
  z.object({
    operator: operatorInput,
    values: z.array(z.string()).meta({
      description: '1 to 100 values of up to 500 characters, case-insensitive.',
    }),
  }),
  { input: 'GuardCriterionInput', description: 'A criterion that compares an email with values.' },
);

const senderCriterionInput = nameType(
  z.object({
    operator: operatorInput,
    values: z.array(z.string()).meta({ description: '1 to 100 addresses, or `*@domain` for a whole domain.' }),
    isAligned: z
      .boolean()
      .nullish()
      .meta({ description: `${ALIGNED} Null matches any mail.` }),
  }),
  {
    input: 'GuardSenderCriterionInput',
    description: 'A criterion that compares the From header with addresses.',
  },
);

export const guardConfigInput = nameType(
  z.object({
    ...makeCriteria(criterionInput, senderCriterionInput),
    prompt: z.string().nullish().meta({
      description: 'For type AI_PROMPT: the question for the language model, 1 to 4,000 characters.',
    }),
  }),
  {
    input: 'GuardConfigInput',
    description:
      'Configuration of a guard rule: at least one criterion for type EXPLICIT, or the prompt for type AI_PROMPT.',
  },
);

/** Returns the config that core/routing/guard-config.ts checks. */
export function readGuardConfig(input: z.output<typeof guardConfigInput>): Record<string, unknown> {
  const { from, ...config } = input;
  if (from == null) return config;
  const { isAligned, ...sender } = from;
  return { ...config, from: { ...sender, ...(isAligned == null ? {} : { aligned: isAligned }) } };
}
