import {
  type BudgetRule,
  MAX_POLICY_ALLOW,
  MAX_POLICY_AUTO_REPLIES,
  MAX_POLICY_BUDGET,
  MAX_POLICY_UNDO_SECONDS,
  type SendPolicy,
  sendPolicyShape,
} from '../../../core/sending/send-policy.ts';
import { UserError } from '../../../core/shared/errors.ts';
import type { PolicyUsage } from '../../../operations/sending/policy-usage.ts';
import { parseInput } from '../../input-shapes.ts';
import { builder, enumValues } from '../builder.ts';

const PolicyRecipients = builder.enumType('PolicyRecipients', {
  description: 'To whom a send policy allows mail.',
  values: enumValues<NonNullable<SendPolicy['recipients']>>({
    any: 'Everyone.',
    participants:
      'The people of the thread that the email replies to, and your own addresses. New threads are refused.',
    list: 'The addresses and domains in allow.',
  }),
});

const PolicyApproval = builder.enumType('PolicyApproval', {
  description: 'Which emails of a send policy wait for approval.',
  values: enumValues<NonNullable<SendPolicy['approval']>>({
    never: 'None.',
    new_recipients: 'Those with a recipient that the account has not sent mail to before.',
    always: 'All.',
  }),
});

const ABOUT = {
  recipients: 'To whom mail may be sent. The default is ANY.',
  allow: `Up to ${MAX_POLICY_ALLOW} email addresses and domains (example.com or @example.com), with recipients LIST. A domain excludes its subdomains.`,
  perHour: `Emails in any 60 minutes, up to ${MAX_POLICY_BUDGET}.`,
  perDay: `Emails in any 24 hours, up to ${MAX_POLICY_BUDGET}.`,
  attachments: 'False refuses attachments, including inline images and files in `data:` URLs.',
  links: 'False refuses web addresses in subject, text and HTML, including remote images.',
  undoSeconds: `Seconds that an email waits, scheduled, before it is sent, up to ${MAX_POLICY_UNDO_SECONDS}. It can be cancelled meanwhile.`,
  autoRepliesPerThreadPerHour: `Emails that programs (API keys and actions of webhooks) send into one thread in any 60 minutes, up to ${MAX_POLICY_AUTO_REPLIES}.`,
  approval: 'Which emails wait for approval. The default is NEVER.',
};

export const SendPolicyNode = builder.objectRef<SendPolicy>('SendPolicy').implement({
  description: 'Limits what is sent with an API key or from an address. Null means that a rule is not set.',
  isOfDomain: true,
  fields: (t) => ({
    recipients: t.expose('recipients', { type: PolicyRecipients, nullable: true, description: ABOUT.recipients }),
    allow: t.stringList({ nullable: true, description: ABOUT.allow, resolve: ({ allow }) => allow ?? null }),
    perHour: t.exposeInt('per_hour', { nullable: true, description: ABOUT.perHour }),
    perDay: t.exposeInt('per_day', { nullable: true, description: ABOUT.perDay }),
    attachments: t.exposeBoolean('attachments', { nullable: true, description: ABOUT.attachments }),
    links: t.exposeBoolean('links', { nullable: true, description: ABOUT.links }),
    undoSeconds: t.exposeInt('undo_seconds', { nullable: true, description: ABOUT.undoSeconds }),
    autoRepliesPerThreadPerHour: t.exposeInt('auto_replies_per_thread_per_hour', {
      nullable: true,
      description: ABOUT.autoRepliesPerThreadPerHour,
    }),
    approval: t.expose('approval', { type: PolicyApproval, nullable: true, description: ABOUT.approval }),
  }),
});

export const SendPolicyInput = builder.inputType('SendPolicyInput', {
  description: 'Limits what is sent with an API key or from an address. Omitted rules limit nothing.',
  fields: (t) => ({
    recipients: t.field({ type: PolicyRecipients, description: ABOUT.recipients }),
    allow: t.stringList({ description: ABOUT.allow }),
    perHour: t.int({ description: ABOUT.perHour }),
    perDay: t.int({ description: ABOUT.perDay }),
    attachments: t.boolean({ description: ABOUT.attachments }),
    links: t.boolean({ description: ABOUT.links }),
    undoSeconds: t.int({ description: ABOUT.undoSeconds }),
    autoRepliesPerThreadPerHour: t.int({ description: ABOUT.autoRepliesPerThreadPerHour }),
    approval: t.field({ type: PolicyApproval, description: ABOUT.approval }),
  }),
});

type PolicyFields = typeof SendPolicyInput.$inferInput;

/** Returns the policy of an input; null and undefined as they are. Throws validation that names the field. */
export function policyOfInput(input: PolicyFields | null | undefined): SendPolicy | null | undefined {
  if (input == null) return input;
  const { perHour, perDay, undoSeconds, autoRepliesPerThreadPerHour, ...same } = input;
  const wire = {
    ...same,
    per_hour: perHour,
    per_day: perDay,
    undo_seconds: undoSeconds,
    auto_replies_per_thread_per_hour: autoRepliesPerThreadPerHour,
  };
  const given = Object.fromEntries(Object.entries(wire).filter(([, value]) => value != null));
  try {
    return parseInput(sendPolicyShape, given);
  } catch (error) {
    if (!(error instanceof UserError) || !Array.isArray(error.details)) throw error;
    const details = (error.details as { field: string; message: string }[]).map(({ field, message }) => ({
      field: field === '' ? 'policy' : `policy.${field}`,
      message,
    }));
    throw new UserError('validation', error.message, { title: error.title ?? error.message, details, cause: error });
  }
}

const PolicyBudget = builder.enumType('PolicyBudget', {
  description: 'A rule of a send policy that counts emails.',
  values: enumValues<BudgetRule>({ per_hour: 'Emails in any 60 minutes.', per_day: 'Emails in any 24 hours.' }),
});

export const PolicyUsageNode = builder.objectRef<PolicyUsage>('PolicyUsage').implement({
  description: 'What is left of a budget of a send policy.',
  isOfDomain: true,
  fields: (t) => ({
    budget: t.expose('rule', { type: PolicyBudget, description: 'The rule that counts.' }),
    limit: t.exposeInt('limit', { description: 'Emails that the rule allows.' }),
    used: t.exposeInt('used', { description: 'Emails that count now, sent, scheduled or cancelled.' }),
    remaining: t.exposeInt('remaining', { description: 'Emails that can be sent now.' }),
    nextAt: t.expose('nextAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next email can be sent. Null: now.',
    }),
  }),
});
