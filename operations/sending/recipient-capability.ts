import { z } from 'zod';
import { adviceOn, refusalShape } from '../../core/sending/refusal-advice.ts';
import { graphqlOnly, linkTo, named, nameType, restOnly, usually } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { lastReplyText, RECIPIENT_STATUSES, SENDING_OUTCOMES } from '../../core/smtp/delivery-status.ts';
import { type Capability, defineRead, defineResource } from '../capability/capability.ts';
import { type EmailAttempt, loadAttempts, loadRecipients, type Recipient } from './recipients.ts';

const number = z.number().int();

const sendingAttempt = nameType(
  z.object({
    number: number.meta({ description: 'Number of the attempt, starting at 1.' }),
    startedAt: z.date().meta({ description: 'When the attempt started.' }),
    finishedAt: z.date().nullable().meta({
      description: 'When the attempt ended. Null while it is running, or if it was interrupted by a crash.',
    }),
    durationMs: graphqlOnly(number.nullable()).meta({
      description: 'Duration in milliseconds. Null if there is no finishedAt.',
    }),
    outcome: oneOf(SENDING_OUTCOMES, {
      name: 'AttemptOutcome',
      description: 'Result of an attempt to send.',
      values: {
        delivered: 'The server accepted the email.',
        deferred: 'Deferred: Postroom retries it.',
        bounced: 'Rejected permanently.',
        interrupted: 'Interrupted by a restart of the service; does not count as an attempt.',
      },
    })
      .nullable()
      .meta({
        description:
          'Result of the attempt. `deferred` is retried. `interrupted` was ended by a restart of the service and does not count. Null while it is running.',
      }),
    host: z.string().nullable().meta({
      description: 'Host name of the server. Null if none was reached, or if the server is a relay or internal.',
    }),
    remoteAddress: z.string().nullable().meta({ description: 'IP address of the server. Null if there is no host.' }),
    isTls: named(z.boolean().nullable(), { restName: 'tls' }).meta({
      description: 'Whether the connection used TLS. Null if there was no connection.',
    }),
    code: number.nullable().meta({ description: 'SMTP reply code, such as `250`. Null if there was no reply.' }),
    enhancedStatus: z.string().nullable().meta({
      description: 'Enhanced status code of the reply, such as `5.1.1` (RFC 3463). Null if there was none.',
    }),
    text: z.string().nullable().meta({ description: 'Text of the reply, or the error. Null if there was none.' }),
  }),
  { id: 'SendingAttempt', type: 'Attempt', description: 'An attempt to send an email to a recipient’s server.' },
);

/** Returns an attempt in the form of its shape. */
function describeAttempt(attempt: EmailAttempt): z.output<typeof sendingAttempt> {
  const { startedAt, finishedAt } = attempt;
  return { ...attempt, durationMs: finishedAt === null ? null : finishedAt.getTime() - startedAt.getTime() };
}

/** Recipients of an email, and attempts of each, that the cost limit of GraphQL assumes. */
export const USUAL_RECIPIENTS = 3;
const USUAL_ATTEMPTS = 3;

/** A recipient; REST has it as a part of an email. */
export const recipientShape = z.object({
  address: z.string().meta({ description: 'Address in the envelope.' }),
  status: oneOf(RECIPIENT_STATUSES, {
    name: 'RecipientStatus',
    description: 'Delivery status of one recipient.',
    values: {
      pending: 'Not sent yet, or being retried.',
      delivered: 'Accepted by the recipient’s server.',
      bounced: 'Rejected permanently, possibly after the server had accepted the email.',
      failed: 'Given up after five days of retries.',
    },
  }).meta({
    description:
      'Delivery status. `bounced`: rejected permanently, possibly after it was accepted. `failed`: given up after five days.',
  }),
  attempts: named(number, { graphqlName: 'attemptCount' }).meta({
    description: 'Number of attempts, without interrupted ones.',
  }),
  lastResponse: restOnly(z.string().nullable()).meta({
    description: 'Last reply of a server, or text of a bounce report.',
  }),
  code: graphqlOnly(number.nullable(), 'lastCode').meta({
    description:
      'SMTP code of the last reply. Null if no server replied, or if the last result came from a bounce report.',
  }),
  enhancedStatus: named(z.string().nullable(), { graphqlName: 'lastEnhancedStatus' }).meta({
    description:
      'Enhanced status code of the last reply or bounce report, such as `5.1.1` (RFC 3463). Null if there was none.',
  }),
  text: graphqlOnly(z.string().nullable(), 'lastText').meta({
    description: 'Text of the last reply or bounce report. Null if there was none.',
  }),
  refusal: refusalShape.nullable().meta({
    description: 'Why the last reply or bounce report refused or deferred the email. Null if it did not.',
  }),
  nextAttemptAt: z.date().nullable().meta({
    description: 'When the next attempt is due. Null if the recipient is finished or the email is scheduled.',
  }),
  settledAt: z.date().nullable().meta({
    description: 'When delivery succeeded or failed. Null while it is pending.',
  }),
  complainedAt: graphqlOnly(z.date().nullable()).meta({
    description: 'When the recipient reported the email, for example as spam. Null if never.',
  }),
  createdAt: graphqlOnly(z.date()).meta({ description: 'When the email was created.' }),
  emailId: linkTo('Email', graphqlOnly(z.string().nullable())).meta({
    description: 'The sent email; for a forwarded copy, the received one. Null if it was deleted.',
  }),
  log: restOnly(z.array(sendingAttempt)).meta({ description: 'All attempts, oldest first.' }),
  attemptList: usually(USUAL_ATTEMPTS, graphqlOnly(z.array(sendingAttempt), 'attempts')).meta({
    description: 'All attempts, oldest first.',
  }),
});

type EmailRecipient = Pick<
  Recipient,
  | 'address'
  | 'status'
  | 'attempts'
  | 'code'
  | 'enhancedStatus'
  | 'text'
  | 'refusalReason'
  | 'nextAttemptAt'
  | 'settledAt'
> & { log: readonly EmailAttempt[] };

/** Returns a recipient of an email as REST has it, before names are converted. */
export function describeRecipient(recipient: EmailRecipient) {
  const { code, enhancedStatus, text, refusalReason } = recipient;
  return {
    ...recipient,
    lastResponse: lastReplyText(code, enhancedStatus, text),
    refusal: adviceOn(refusalReason),
  };
}

const recipientResource = defineResource<Recipient>()({
  name: 'Recipient',
  identifier: 'recipient',
  description: 'A recipient of an email and its delivery status.',
  isOfDomain: true,
  shape: recipientShape,
  computed: {
    lastResponse: ({ code, enhancedStatus, text }) => lastReplyText(code, enhancedStatus, text),
    refusal: ({ refusalReason }) => adviceOn(refusalReason),
    log: () => [],
  },
  loaded: {
    attemptList: {
      isInLists: false,
      load: async (context, rows) => {
        const ids = rows.map(({ id }) => id);
        return (await loadAttempts(context, ids)).map((attempts) => attempts.map(describeAttempt));
      },
    },
  },
  load: loadRecipients,
});

export const recipientCapability: Capability = {
  feature: 'Sending',
  what: 'Read a recipient',
  difference: 'REST: `recipients` of `GET /emails/{id}`',
  tag: 'Emails',
  path: '',
  restCase: 'snake',
  resource: recipientResource,
  operations: [
    defineRead<Recipient>({
      access: 'read',
      field: 'recipient',
      summary: 'Retrieve a recipient',
      description: 'Returns the recipient with this ID, or null if the account has no such recipient.',
      target: { argument: 'id', argumentDescription: 'ID of the recipient.' },
    }),
  ],
};
