import {
  REPROCESS_ANSWER_MS,
  type ReprocessChange,
  type ReprocessedEmail,
  reprocessEmails,
} from '../../../operations/emails/reprocess.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { DeliveryNode, EmailNode, EndpointInterface } from '../nodes.ts';

const ReprocessStepEnum = builder.enumType('ReprocessStep', {
  description: 'What is done with a stored email once more, always in this order.',
  values: {
    PARSE: { value: 'parse', description: 'Its octets are read by the parser of today.' },
    THREAD: { value: 'thread', description: 'It is taken out of its thread and joined as if it came now.' },
    ROUTE: { value: 'route', description: 'Guard rules and routes are asked; where they lead, it is delivered again.' },
  } as const,
});

const ReprocessErrorCode = builder.enumType('ReprocessErrorCode', {
  description: 'Why a step could not be done with an email.',
  values: {
    NOT_FOUND: { value: 'not_found', description: 'You have no such email.' },
    CONFLICT: { value: 'conflict', description: 'It is still in work, or others were in the way. Try again shortly.' },
    VALIDATION: {
      value: 'validation',
      description: 'It is not of a kind that this can be done with, or cannot be parsed.',
    },
    RATE_LIMITED: { value: 'rate_limited', description: 'Your guard rules took too long lately.' },
    UNAVAILABLE: { value: 'unavailable', description: 'There was no time, or nobody to do it. Try again.' },
    OTHER: { value: 'other', description: 'Anything else; the message says what.' },
  } as const,
});

const ReprocessChangeRef = builder.objectRef<ReprocessChange>('ReprocessChange').implement({
  description: 'Something of an email that reads otherwise now.',
  fields: (t) => ({
    step: t.expose('step', { type: ReprocessStepEnum, description: 'The step that it came of.' }),
    field: t.exposeString('field', { description: 'What differs: `subject`, `textBody`, `threadId`, `outcome` ...' }),
    before: t.exposeString('before', {
      nullable: true,
      description:
        'As text, at most 500 characters, of bodies from shortly before the first difference; what is more than a text as JSON. Null: nothing.',
    }),
    after: t.exposeString('after', { nullable: true, description: 'The same as it reads now; null: nothing.' }),
    differsAt: t.exposeInt('differsAt', {
      nullable: true,
      description: 'Of bodies: after how many characters they differ; null of all else.',
    }),
  }),
});

const ReprocessErrorRef = builder.objectRef<NonNullable<ReprocessedEmail['error']>>('ReprocessError').implement({
  description: 'Why a step could not be done; those before it were, those behind it were not.',
  fields: (t) => ({
    code: t.field({
      type: ReprocessErrorCode,
      description: 'For programs.',
      resolve: ({ code }) =>
        code === 'unauthorized' || code === 'forbidden' || code === 'gone' ? ('other' as const) : code,
    }),
    message: t.exposeString('message', { description: 'For people.' }),
  }),
});

const ReprocessedEmailRef = builder.objectRef<ReprocessedEmail>('ReprocessedEmail').implement({
  description: 'What became of one email, or would in a run.',
  fields: (t) => ({
    emailId: t.exposeID('emailId', { description: 'Id of the email.' }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email as it is now; null: you have none of that id, or it is not parsed yet.',
      resolve: ({ emailId, error }) => (error?.code === 'not_found' ? null : emailId),
    }),
    changes: t.field({
      type: [ReprocessChangeRef],
      description: 'What differs, step by step; empty: nothing.',
      resolve: ({ changes }) => changes,
    }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'With step ROUTE: where it goes; null: nowhere, or that was not asked.',
      resolve: ({ endpointId }) => endpointId,
    }),
    delivery: t.field({
      type: DeliveryNode,
      nullable: true,
      description: 'The delivery that was made; null: none was, as in every dry run.',
      resolve: ({ deliveryId }) => deliveryId,
    }),
    error: t.field({
      type: ReprocessErrorRef,
      nullable: true,
      description: 'Null: all steps were done.',
      resolve: ({ error }) => error,
    }),
  }),
});

const ReprocessPayload = builder.objectRef<{ emails: ReprocessedEmail[] }>('ReprocessEmailsPayload').implement({
  description: 'Emails that were reprocessed, or would be.',
  fields: (t) => ({
    emails: t.field({
      type: [ReprocessedEmailRef],
      description: 'In the order in which they were asked for, each once.',
      resolve: ({ emails }) => emails,
    }),
  }),
});

builder.mutationField('reprocessEmails', (t) =>
  t.fieldWithInput({
    type: ReprocessPayload,
    access: access.manage,
    description:
      'Parses stored emails again, joins them to threads again, routes them again, by what the service knows today. What you set (read, archived, labels, messages that you moved) stays.',
    errors: { directResult: true },
    input: {
      emailIds: t.input.idList({
        required: true,
        description: '1 to 100 emails; only received ones can be parsed and routed.',
      }),
      steps: t.input.field({ type: [ReprocessStepEnum], required: true, description: 'At least one.' }),
      isDryRun: t.input.boolean({
        required: true,
        description: 'Whether nothing shall change, and the answer tell what would.',
      }),
    },
    resolve: async (_root, { input: { emailIds, steps, isDryRun } }, context) => {
      context.answerWithin(REPROCESS_ANSWER_MS);
      const wish = { emailIds, steps, mode: isDryRun ? ('dry' as const) : ('run' as const) };
      const emails = await reprocessEmails(context.operations, wish);
      forgetLoaded(context);
      return { emails };
    },
  }),
);
