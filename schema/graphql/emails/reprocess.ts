import {
  REPROCESS_ANSWER_MS,
  type ReprocessChange,
  type ReprocessedEmail,
  type ReprocessStep,
  reprocessEmails,
} from '../../../operations/emails/reprocess.ts';
import { access } from '../access.ts';
import { builder, enumValues } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { DeliveryNode, EmailNode, EndpointInterface } from '../nodes.ts';

const ReprocessStepEnum = builder.enumType('ReprocessStep', {
  description: 'A step of reprocessing. The steps always run in this order.',
  values: enumValues<ReprocessStep>({
    parse: 'Parses the raw message with the current parser.',
    thread: 'Removes the email from its thread and threads it as if it arrived now.',
    route: 'Applies guard rules and routes, and delivers the email again accordingly.',
  }),
});

const ReprocessErrorCode = builder.enumType('ReprocessErrorCode', {
  description: 'Why a step failed.',
  values: enumValues({
    not_found: 'The account has no such email.',
    conflict: 'The email is still being processed or locked by other requests. Try again shortly.',
    validation: 'This step does not apply to this email, or the email cannot be parsed.',
    rate_limited: 'Your guard rules recently took too long.',
    unavailable: 'The request ran out of time or no worker was available. Try again.',
    other: 'Any other error; see the message.',
  }),
});

const ReprocessChangeRef = builder.objectRef<ReprocessChange>('ReprocessChange').implement({
  description: 'A difference between the stored email and the result of reprocessing.',
  fields: (t) => ({
    step: t.expose('step', { type: ReprocessStepEnum, description: 'The step that caused the difference.' }),
    field: t.exposeString('field', {
      description: 'What differs: `subject`, `textBody`, `threadId`, `outcome` and so on.',
    }),
    before: t.exposeString('before', {
      nullable: true,
      description:
        'Old value as text of up to 500 characters; other types as JSON. For bodies, the text around the first difference. Null if there was none.',
    }),
    after: t.exposeString('after', {
      nullable: true,
      description: 'New value, in the same format. Null if there is none.',
    }),
    differsAt: t.exposeInt('differsAt', {
      nullable: true,
      description: 'For bodies, the number of characters before the first difference. Null otherwise.',
    }),
  }),
});

const ReprocessErrorRef = builder.objectRef<NonNullable<ReprocessedEmail['error']>>('ReprocessError').implement({
  description: 'An error in a step. The steps before it took effect, the steps after it did not run.',
  fields: (t) => ({
    code: t.field({
      type: ReprocessErrorCode,
      description: 'Error code.',
      resolve: ({ code }) =>
        code === 'unauthorized' || code === 'forbidden' || code === 'gone' ? ('other' as const) : code,
    }),
    message: t.exposeString('message', { description: 'Display text.' }),
  }),
});

const ReprocessedEmailRef = builder.objectRef<ReprocessedEmail>('ReprocessedEmail').implement({
  description: 'Result of reprocessing one email.',
  fields: (t) => ({
    emailId: t.exposeID('emailId', { description: 'ID of the email.' }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email as it is now. Null if the account has no such email or it is not parsed yet.',
      resolve: ({ emailId, error }) => (error?.code === 'not_found' ? null : emailId),
    }),
    changes: t.field({
      type: [ReprocessChangeRef],
      description: 'Differences, by step. Empty if nothing differs.',
      resolve: ({ changes }) => changes,
    }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'With step ROUTE, the endpoint of the email. Null if there is none or the step was not requested.',
      resolve: ({ endpointId }) => endpointId,
    }),
    delivery: t.field({
      type: DeliveryNode,
      nullable: true,
      description: 'The new delivery. Null if there is none, as in every dry run.',
      resolve: ({ deliveryId }) => deliveryId,
    }),
    error: t.field({
      type: ReprocessErrorRef,
      nullable: true,
      description: 'The error of the step that failed. Null if all steps succeeded.',
      resolve: ({ error }) => error,
    }),
  }),
});

const ReprocessPayload = builder.objectRef<{ emails: ReprocessedEmail[] }>('ReprocessEmailsPayload').implement({
  description: 'Result of reprocessing emails.',
  fields: (t) => ({
    emails: t.field({
      type: [ReprocessedEmailRef],
      description: 'One result per email, in the order of the input without duplicates.',
      resolve: ({ emails }) => emails,
    }),
  }),
});

builder.mutationField('reprocessEmails', (t) =>
  t.fieldWithInput({
    type: ReprocessPayload,
    access: access.manage,
    description:
      'Parses, threads or routes stored emails again with the current version and rules. Your changes are kept: read and archived flags, labels, and messages you moved.',
    errors: { directResult: true },
    input: {
      emailIds: t.input.idList({
        required: true,
        description: 'IDs of 1 to 100 emails. Only received emails can be parsed and routed.',
      }),
      steps: t.input.field({ type: [ReprocessStepEnum], required: true, description: 'Steps to run, at least one.' }),
      isDryRun: t.input.boolean({
        required: true,
        description: 'True to change nothing and return what would change.',
      }),
    },
    resolve: async (_root, { input: { emailIds, steps, isDryRun } }, context) => {
      context.answerWithin(REPROCESS_ANSWER_MS);
      const options = { emailIds, steps, mode: isDryRun ? ('dry' as const) : ('run' as const) };
      const emails = await reprocessEmails(context.operations, options);
      forgetLoaded(context);
      return { emails };
    },
  }),
);
