import { z } from 'zod';
import { graphqlOnly, linkTo, named, nameType, restLiteral, restOnly } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction, OF_EMAILS } from '../capability/capability.ts';
import { MAX_REPROCESSED, REPROCESS_RESPONSE_MS, REPROCESS_STEPS, reprocessEmails } from './reprocess.ts';

const step = oneOf(REPROCESS_STEPS, {
  name: 'ReprocessStep',
  description: 'A step of reprocessing. The steps always run in this order.',
  values: {
    parse: 'Parses the raw message with the current parser.',
    thread: 'Removes the email from its thread and threads it as if it arrived now.',
    route: 'Applies guard rules and routes, and delivers the email again accordingly.',
  },
});

const change = nameType(
  z.object({
    step: step.meta({ description: 'The step that caused the difference.' }),
    field: z.string().meta({
      description: 'What differs: `subject`, `textBody`, `threadId`, `outcome` and so on.',
    }),
    before: z.string().nullable().meta({
      description:
        'Old value as text of up to 500 characters; other types as JSON. For bodies, the text around the first difference. Null if there was none.',
    }),
    after: z.string().nullable().meta({ description: 'New value, in the same format. Null if there is none.' }),
    differsAt: z.number().int().nullable().meta({
      description: 'For bodies, the number of characters before the first difference. Null otherwise.',
    }),
  }),
  {
    type: 'ReprocessChange',
    description: 'A difference between the stored email and the result of reprocessing.',
  },
);

const failure = nameType(
  z.object({
    code: restOnly(z.string()),
    kind: graphqlOnly(
      oneOf(['not_found', 'conflict', 'validation', 'rate_limited', 'unavailable', 'other'], {
        name: 'ReprocessErrorCode',
        description: 'Why a step failed.',
        values: {
          not_found: 'The account has no such email.',
          conflict: 'The email is still being processed or locked by other requests. Try again shortly.',
          validation: 'This step does not apply to this email, or the email cannot be parsed.',
          rate_limited: 'Your guard rules recently took too long.',
          unavailable: 'The request ran out of time or no worker was available. Try again.',
          other: 'Any other error; see the message.',
        },
      }),
      'code',
    ).meta({ description: 'Error code.' }),
    message: z.string().meta({ description: 'Display text.' }),
  }),
  {
    type: 'ReprocessError',
    description: 'An error in a step. The steps before it took effect, the steps after it did not run.',
  },
);

const reprocessedEmail = z
  .object({
    emailId: z.string().meta({ description: 'ID of the email.' }),
    email: linkTo('Email', graphqlOnly(z.string().nullable()), 'email').meta({
      description: 'The email as it is now. Null if the account has no such email or it is not parsed yet.',
    }),
    changes: z.array(change).meta({ description: 'Differences, by step. Empty if nothing differs.' }),
    endpointId: linkTo('Endpoint', z.string().nullable()).meta({
      description: 'With step `route`, the endpoint of the email. Null if there is none or the step was not requested.',
    }),
    deliveryId: linkTo('Delivery', z.string().nullable()).meta({
      description: 'The new delivery. Null if there is none, as in every dry run.',
    }),
    error: failure.nullable().meta({
      description: 'The error of the step that failed: earlier steps took effect. Null if all steps succeeded.',
    }),
  })
  .meta({ id: 'ReprocessedEmail', description: 'Result of reprocessing one email.' });

export const reprocessCapability: Capability = {
  feature: 'Emails',
  what: 'Reprocess emails',
  ...OF_EMAILS,
  operations: [
    defineAction({
      access: 'importsAndRead',
      operationId: 'reprocessEmails',
      field: 'reprocessEmails',
      summary: 'Reprocess emails',
      description:
        'Parses, threads or routes stored emails again with the current version and rules. Your changes are kept: read and archived flags, labels, and messages you moved. Only received emails can be parsed and routed.',
      respondWithinMs: REPROCESS_RESPONSE_MS,
      method: 'POST',
      path: '/reprocess',
      input: z.object({
        emailIds: z
          .array(named(z.string(), { graphqlType: 'ID' }))
          .meta({ description: `IDs of 1 to ${MAX_REPROCESSED} emails.` }),
        steps: z.array(step).meta({ description: 'Steps to run, at least one.' }),
        isDryRun: named(z.boolean(), { restName: 'dry_run' }).meta({
          description: 'True to change nothing and return what would change.',
        }),
      }),
      inputName: 'ReprocessEmails',
      example: { emailIds: ['em_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b'], steps: ['parse'], isDryRun: true },
      output: z
        .object({
          object: restLiteral('list'),
          emails: named(z.array(reprocessedEmail), { restName: 'data' }).meta({
            description: 'One result per email, in the order of the input without duplicates.',
          }),
        })
        .meta({ id: 'ReprocessedEmails', description: 'Result of reprocessing emails.' }),
      errors: [],
      async run(context, { emailIds, steps, isDryRun }) {
        const done = await reprocessEmails(context, { emailIds, steps, mode: isDryRun ? 'dry' : 'run' });
        return {
          emails: done.map(({ error, ...result }) => ({
            ...result,
            email: error?.code === 'not_found' ? null : result.emailId,
            error: error === null ? null : { ...error, kind: classifyCode(error.code) },
          })),
        };
      },
    }),
  ],
};

type Code = NonNullable<Awaited<ReturnType<typeof reprocessEmails>>[number]['error']>['code'];

function classifyCode(code: Code) {
  return code === 'unauthorized' || code === 'forbidden' || code === 'gone' ? ('other' as const) : code;
}
