import { type EmailAttempt, loadAttempts } from '../../../operations/sending/recipients.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { AttemptOutcome, RecipientStatus } from '../emails/email-enums.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { EmailNode, RecipientNode } from '../nodes.ts';

/** What a list of recipients or attempts is reckoned to hold, where most hold one. */
export const USUAL_RECIPIENTS = 3;
const USUAL_ATTEMPTS = 3;

const attemptsOf = loadByOwner(({ reads }, recipientIds) => loadAttempts(reads, recipientIds));

const Attempt = builder.objectRef<EmailAttempt>('Attempt').implement({
  description: 'One try to hand an email to the server of a recipient.',
  isOfDomain: true,
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'From 1.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ended; null: it goes on, or its process died.',
    }),
    durationMs: t.int({
      nullable: true,
      description: 'How long it took, in milliseconds; null as finishedAt.',
      resolve: ({ startedAt, finishedAt }) => (finishedAt === null ? null : finishedAt.getTime() - startedAt.getTime()),
    }),
    outcome: t.expose('outcome', {
      type: AttemptOutcome,
      nullable: true,
      description: 'What it came to; null as finishedAt.',
    }),
    host: t.exposeString('host', {
      nullable: true,
      description: 'Name of the server; null: none was reached, or it was a relay or a server of this service.',
    }),
    remoteAddress: t.exposeString('remoteAddress', {
      nullable: true,
      description: 'IP address of the server; null as host.',
    }),
    isTls: t.exposeBoolean('isTls', {
      nullable: true,
      description: 'Whether the connection was encrypted; null: there was none.',
    }),
    code: t.exposeInt('code', { nullable: true, description: 'SMTP code of the reply, `250`; null: there was none.' }),
    enhancedStatus: t.exposeString('enhancedStatus', {
      nullable: true,
      description: 'Of the reply, as `5.1.1` (RFC 3463); null: it had none.',
    }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'Of the reply, or what went wrong; null: nothing was said.',
    }),
  }),
});

RecipientNode.implement({
  description: 'Somebody that an email is sent to, and what became of it there.',
  isOfDomain: true,
  fields: (t) => ({
    address: t.exposeString('address', { description: 'As it stands in the envelope.' }),
    status: t.expose('status', { type: RecipientStatus, description: 'How far the email came there.' }),
    attemptCount: t.exposeInt('attempts', { description: 'Tries that count: interrupted ones do not.' }),
    lastCode: t.exposeInt('code', {
      nullable: true,
      description:
        'SMTP code of the last word of a server; null: no server answered, or the last word is that of a report.',
    }),
    lastEnhancedStatus: t.exposeString('enhancedStatus', {
      nullable: true,
      description:
        'Of the last word of a server, or of a report that came back, as `5.1.1` (RFC 3463); null: it had none.',
    }),
    lastText: t.exposeString('text', {
      nullable: true,
      description: 'The last word of a server, or of a report that came back; null: nobody has said anything.',
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is tried next; null: it is settled, or still on the schedule.',
    }),
    settledAt: t.expose('settledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was taken, refused or given up; null while it is pending.',
    }),
    complainedAt: t.expose('complainedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the recipient complained of the email, as of spam; null: never.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the email was created.' }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email that is sent; of a forwarded copy the received one. Null: it is gone.',
      resolve: ({ emailId }) => emailId,
    }),
    attempts: t.field({
      type: [Attempt],
      description: 'Every try, the first one first.',
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
    description: 'A recipient by its id; null when you have none with that id.',
    args: { id: t.arg.id({ required: true, description: 'Id of the recipient.' }) },
    resolve: (_root, { id }) => id,
  }),
);
