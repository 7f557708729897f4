import { adviceOn, refusalShape } from '../../../core/sending/refusal-advice.ts';
import { type EmailAttempt, loadAttempts, type Recipient } from '../../../operations/sending/recipients.ts';
import { access } from '../access.ts';
import { builder, enumValues } from '../builder.ts';
import { typeFor } from '../capability-shapes.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { EmailNode, RecipientNode } from '../nodes.ts';

const RecipientStatus = builder.enumType('RecipientStatus', {
  description: 'Delivery status of one recipient.',
  values: enumValues<Recipient['status']>({
    pending: 'Not sent yet, or being retried.',
    delivered: 'Accepted by the recipient’s server.',
    bounced: 'Rejected permanently, possibly after the server had accepted the email.',
    failed: 'Given up after five days of retries.',
  }),
});

const AttemptOutcome = builder.enumType('AttemptOutcome', {
  description: 'Result of an attempt to send.',
  values: enumValues<NonNullable<EmailAttempt['outcome']>>({
    delivered: 'The server accepted the email.',
    deferred: 'Deferred: Postroom retries it.',
    bounced: 'Rejected permanently.',
    interrupted: 'Interrupted by a restart of the service; does not count as an attempt.',
  }),
});

/** Numbers of recipients and attempts that the cost limit assumes. */
export const USUAL_RECIPIENTS = 3;
const USUAL_ATTEMPTS = 3;

const attemptsOf = loadByOwner(({ reads }, recipientIds) => loadAttempts(reads, recipientIds));

const Attempt = builder.objectRef<EmailAttempt>('Attempt').implement({
  description: 'An attempt to send an email to a recipient’s server.',
  isOfDomain: true,
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'Number of the attempt, starting at 1.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When the attempt started.' }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the attempt ended. Null while it is running, or if it was interrupted by a crash.',
    }),
    durationMs: t.int({
      nullable: true,
      description: 'Duration in milliseconds. Null if there is no finishedAt.',
      resolve: ({ startedAt, finishedAt }) => (finishedAt === null ? null : finishedAt.getTime() - startedAt.getTime()),
    }),
    outcome: t.expose('outcome', {
      type: AttemptOutcome,
      nullable: true,
      description: 'Result of the attempt. Null if there is no finishedAt.',
    }),
    host: t.exposeString('host', {
      nullable: true,
      description: 'Host name of the server. Null if none was reached, or if the server is a relay or internal.',
    }),
    remoteAddress: t.exposeString('remoteAddress', {
      nullable: true,
      description: 'IP address of the server. Null if there is no host.',
    }),
    isTls: t.exposeBoolean('isTls', {
      nullable: true,
      description: 'Whether the connection used TLS. Null if there was no connection.',
    }),
    code: t.exposeInt('code', {
      nullable: true,
      description: 'SMTP reply code, such as `250`. Null if there was no reply.',
    }),
    enhancedStatus: t.exposeString('enhancedStatus', {
      nullable: true,
      description: 'Enhanced status code of the reply, such as `5.1.1` (RFC 3463). Null if there was none.',
    }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'Text of the reply, or the error. Null if there was none.',
    }),
  }),
});

RecipientNode.implement({
  description: 'A recipient of an email and its delivery status.',
  isOfDomain: true,
  fields: (t) => ({
    address: t.exposeString('address', { description: 'Address in the envelope.' }),
    status: t.expose('status', { type: RecipientStatus, description: 'Delivery status.' }),
    attemptCount: t.exposeInt('attempts', { description: 'Number of attempts, without interrupted ones.' }),
    lastCode: t.exposeInt('code', {
      nullable: true,
      description:
        'SMTP code of the last reply. Null if no server replied, or if the last result came from a bounce report.',
    }),
    lastEnhancedStatus: t.exposeString('enhancedStatus', {
      nullable: true,
      description:
        'Enhanced status code of the last reply or bounce report, such as `5.1.1` (RFC 3463). Null if there was none.',
    }),
    lastText: t.exposeString('text', {
      nullable: true,
      description: 'Text of the last reply or bounce report. Null if there was none.',
    }),
    refusal: t.field({
      type: typeFor(refusalShape),
      nullable: true,
      description: 'Why the last reply or bounce report refused or deferred the email. Null if it did not.',
      resolve: ({ refusalReason }) => adviceOn(refusalReason),
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next attempt is due. Null if the recipient is finished or the email is scheduled.',
    }),
    settledAt: t.expose('settledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When delivery succeeded or failed. Null while it is pending.',
    }),
    complainedAt: t.expose('complainedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the recipient reported the email, for example as spam. Null if never.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the email was created.' }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The sent email; for a forwarded copy, the received one. Null if it was deleted.',
      resolve: ({ emailId }) => emailId,
    }),
    attempts: t.field({
      type: [Attempt],
      description: 'All attempts, oldest first.',
      complexity: { field: 1, multiplier: USUAL_ATTEMPTS },
      resolve: ({ id }, _args, context) => attemptsOf(context, id, null),
    }),
  }),
});

builder.queryField('recipient', (t) =>
  t.field({
    type: RecipientNode,
    access: access.read,
    nullable: true,
    description: 'Returns the recipient with this ID, or null if the account has no such recipient.',
    args: { id: t.arg.id({ required: true, description: 'ID of the recipient.' }) },
    resolve: (_root, { id }) => id,
  }),
);
