import { z } from 'zod';
import { canonicalDomainName } from '../domains/domain-name.ts';
import { nameType } from '../shared/field-notes.ts';
import { oneOf } from '../shared/vocabulary.ts';
import { APPROVAL_RULES, type ApprovalRule } from './approval.ts';
import { outgoingMailbox } from './outgoing-addresses.ts';
import type { Finding, OutgoingContent } from './outgoing-content.ts';

/*
 * A send policy limits what is sent with an API key, or from an address. Every rule is optional; an omitted rule limits nothing. Where a key
 * and an address both have a policy, an email must satisfy both.
 */

/** To whom mail may be sent: everyone, the participants of the thread that it replies to, or the addresses and domains in `allow`. */
const POLICY_RECIPIENTS = ['any', 'participants', 'list'] as const;
/**
 * Which emails a person must approve, from none to all. On review: emails that may follow from mail with text aimed at agents. New recipients
 * are addresses that the account has not sent mail to before.
 */
const POLICY_APPROVALS = ['never', ...APPROVAL_RULES] as const;

const MAX_POLICY_ALLOW = 500;
/** Emails per hour or day. */
const MAX_POLICY_BUDGET = 100_000;
/** A day. */
export const MAX_POLICY_UNDO_SECONDS = 86_400;
const MAX_POLICY_AUTO_REPLIES = 1_000;
/** Characters of an entry of `allow`; longer than any address. */
const MAX_ENTRY_LENGTH = 320;

const NO_RULES = 'needs at least one rule, such as `per_hour`. Use null, or omit it, for no limits';
const MODES = '`any`, `participants` or `list`';

/** A policy as users write it; unknown rules are refused, because a misspelled rule would limit nothing. */
export const sendPolicyShape = nameType(
  z
    .strictObject({
      recipients: oneOf(POLICY_RECIPIENTS, {
        name: 'PolicyRecipients',
        description: 'To whom a send policy allows mail.',
        values: {
          any: 'Everyone.',
          participants:
            'The people of the thread that the email replies to, and your own addresses. New threads are refused.',
          list: 'The addresses and domains in allow.',
        },
      })
        .optional()
        .meta({
          description: `To whom mail may be sent: ${MODES}. \`participants\` are the people of the thread that the email replies to; \`list\` is who \`allow\` names.`,
        }),
      allow: z
        .array(
          z
            .string()
            .max(MAX_ENTRY_LENGTH)
            .superRefine((entry, context) => {
              const flaw = flawOfEntry(entry);
              if (flaw !== null) context.addIssue({ code: 'custom', message: flaw });
            })
            .overwrite((entry) => canonicalEntry(entry) ?? entry),
        )
        .min(1)
        .max(MAX_POLICY_ALLOW)
        .overwrite((entries) => [...new Set(entries)])
        .optional()
        .meta({
          description:
            'Email addresses and domains (`example.com` or `@example.com`); a domain excludes its subdomains. Only with `recipients` `list`.',
        }),
      per_hour: z.int().min(1).max(MAX_POLICY_BUDGET).optional().meta({ description: 'Emails in any 60 minutes.' }),
      per_day: z.int().min(1).max(MAX_POLICY_BUDGET).optional().meta({ description: 'Emails in any 24 hours.' }),
      attachments: z
        .boolean()
        .optional()
        .meta({ description: '`false` refuses attachments, including inline images and files in `data:` URLs.' }),
      links: z
        .boolean()
        .optional()
        .meta({ description: '`false` refuses web addresses in subject, text and HTML, including remote images.' }),
      undo_seconds: z.int().min(0).max(MAX_POLICY_UNDO_SECONDS).optional().meta({
        description: 'Seconds that an email waits, scheduled, before it is sent. It can be cancelled meanwhile.',
      }),
      auto_replies_per_thread_per_hour: z.int().min(0).max(MAX_POLICY_AUTO_REPLIES).optional().meta({
        description: 'Emails that programs (API keys and actions of webhooks) send into one thread in any 60 minutes.',
      }),
      approval: oneOf(POLICY_APPROVALS, {
        name: 'PolicyApproval',
        description: 'Which emails of a send policy wait for approval.',
        values: {
          never: 'None.',
          on_review:
            'Emails that reply to or forward mail with the screening verdict review, or that may follow from such mail.',
          new_recipients: 'Those with a recipient that the account has not sent mail to before.',
          always: 'All.',
        },
      })
        .optional()
        .meta({
          description:
            'Which emails wait for approval: `never`, `on_review` (they answer or forward mail whose `security.injection.verdict` is `review` or missing, or may follow from it), `new_recipients` (to an address that the account has not sent mail to before) or `always`.',
        }),
    })
    .superRefine(({ recipients, allow, ...others }, context) => {
      // It would limit nothing, and its key would have all rights.
      if (
        context.issues.length === 0 &&
        [recipients, allow, ...Object.values(others)].every((rule) => rule === undefined)
      )
        context.addIssue({ code: 'custom', path: [], message: NO_RULES });
      const issue = (message: string) => context.addIssue({ code: 'custom', path: ['allow'], message });
      if (recipients === 'list' && allow === undefined)
        issue('is required with recipients "list": give at least one entry');
      if (recipients !== 'list' && allow !== undefined) issue('is allowed only with recipients "list"');
    })
    .meta({ minProperties: 1 }),
  {
    id: 'SendPolicy',
    input: 'SendPolicyInput',
    description: 'Limits what is sent with an API key or from an address. A rule that is not set limits nothing.',
  },
);

export type SendPolicy = z.output<typeof sendPolicyShape>;
type PolicyRule = Exclude<keyof SendPolicy, 'allow'>;

/** Returns `ann@example.com`, or `example.com` also for `@example.com`, in lower case; null for anything else. */
function canonicalEntry(text: string): string | null {
  const entry = text.trim();
  const domain = entry.startsWith('@') ? entry.slice(1) : entry;
  if (!domain.includes('@')) return canonicalDomainName(domain);
  return entry === domain ? (outgoingMailbox({ name: null, address: entry })?.address.toLowerCase() ?? null) : null;
}

/** Returns why a text is no entry of `allow`, for the user; null: it is one. */
function flawOfEntry(text: string): string | null {
  if (canonicalEntry(text) !== null) return null;
  const entry = text.trim();
  if (/[*?]/.test(entry))
    return 'must not have wildcards. Name each domain, such as `example.com` or `@mail.example.com`';
  if (entry.startsWith('@'))
    return 'must have one domain after the @, such as `@example.com`, or be an email address (`ann@example.com`)';
  return 'must be an email address (`ann@example.com`) or a domain (`example.com` or `@example.com`)';
}

/** A policy that holds for an email, and whose it is. */
export interface HeldPolicy {
  of: 'key' | 'address';
  /** id of the key; the address in lower case */
  owner: string;
  policy: SendPolicy;
}

/** What is known about an outgoing email that policies hold for. */
export interface PolicyFacts {
  /** of To, Cc and Bcc; lower case */
  recipients: readonly string[];
  /** addresses of the thread that it replies to, and the user's own, lower case; null: it begins a thread, or no policy asks */
  participants: ReadonlySet<string> | null;
  /** recipients that no mail of the account was sent to before; empty when no policy asks */
  newRecipients: readonly string[];
  /** whether it replies to, forwards or may follow from mail that a person should look at; false when no policy asks */
  followsReview: boolean;
  /** links and files in the message; null: no policy asks */
  content: OutgoingContent | null;
}

/** Why an email is refused. The message is for the user. */
export interface PolicyRefusal {
  rule: PolicyRule;
  of: HeldPolicy['of'];
  owner: string;
  /** the address that may not receive it; null: the rule is about something else */
  recipient: string | null;
  /** the field of a send request with what is refused; null: the field of the rule */
  field: Finding['field'] | null;
  message: string;
}

/** What policies say about the content of an email. */
export interface PolicyVerdict {
  /** null: it may be sent */
  refusal: PolicyRefusal | null;
  /** whose policy demands approval, and its rule; null: none does */
  approval: { rule: ApprovalRule; of: HeldPolicy['of'] } | null;
  /** 0: it is sent at once */
  undoSeconds: number;
}

/**
 * Decides what the policies say about an email, apart from the rules that count (per_hour, per_day, auto_replies_per_thread_per_hour). Each of
 * them holds, so that the stricter one wins.
 */
export function judgeByPolicies(policies: readonly HeldPolicy[], facts: PolicyFacts): PolicyVerdict {
  const refusals = policies.flatMap((held) => refusalBy(held, facts) ?? []);
  return {
    refusal: refusals[0] ?? null,
    approval: policies.map((held) => approvalBy(held, facts)).find((approval) => approval !== null) ?? null,
    undoSeconds: longestUndo(policies.map(({ policy }) => policy)),
  };
}

/** Returns the seconds that mail under these policies waits before it is sent; 0: it is sent at once. */
export function longestUndo(policies: readonly Pick<SendPolicy, 'undo_seconds'>[]): number {
  return Math.max(0, ...policies.map((policy) => policy.undo_seconds ?? 0));
}

function refusalBy(held: HeldPolicy, facts: PolicyFacts): PolicyRefusal | null {
  const { policy } = held;
  const refusal = (rule: PolicyRule, message: string) => toViolation(held, rule, message);
  const stranger = facts.recipients.find((address) => !mayReceive(address, policy, facts));
  if (stranger !== undefined) {
    const reason =
      policy.recipients === 'list'
        ? `allows only the addresses and domains of its list, and not ${stranger}.`
        : facts.participants === null
          ? 'allows only replies to participants of a thread, and this email replies to none that Postroom knows.'
          : `allows only participants of the thread, and not ${stranger}.`;
    return { ...refusal('recipients', reason), recipient: stranger };
  }
  const { link = null, file = null, doubt = null } = facts.content ?? {};
  const found = (rule: 'links' | 'attachments', { what, where, field }: Finding) => ({
    ...refusal(rule, `allows no ${rule}, and the email has ${what} in ${where}.`),
    field,
  });
  if (policy.attachments === false && file !== null) return found('attachments', file);
  if (policy.links === false && link !== null) return found('links', link);
  const rule = policy.links === false ? 'links' : policy.attachments === false ? 'attachments' : null;
  if (rule === null || doubt === null) return null;
  const { what, where, field } = doubt;
  return { ...refusal(rule, `allows no ${rule}, and Postroom cannot look for them in ${where}: ${what}.`), field };
}

/** Returns the refusal by a rule of a policy; `predicate` continues "The send policy of this API key". */
export function toViolation(
  held: Pick<HeldPolicy, 'of' | 'owner'>,
  rule: PolicyRule,
  predicate: string,
): PolicyRefusal {
  const subject = held.of === 'key' ? 'this API key' : held.owner;
  return {
    rule,
    of: held.of,
    owner: held.owner,
    recipient: null,
    field: null,
    message: `The send policy of ${subject} ${predicate}`,
  };
}

function mayReceive(address: string, { recipients, allow = [] }: SendPolicy, { participants }: PolicyFacts): boolean {
  switch (recipients) {
    case 'participants':
      return participants?.has(address) ?? false;
    case 'list':
      return isListed(address, allow);
    case 'any':
    case undefined:
      return true;
  }
}

/** Returns whether a list has an address or its domain; of a domain, whether it has that. */
function isListed(entry: string, allow: readonly string[]): boolean {
  return allow.includes(entry) || allow.includes(entry.slice(entry.lastIndexOf('@') + 1));
}

/**
 * Returns whether a policy could refuse, delay or hold mail that another one (null: none) allowed. Of two that cannot be compared, such as
 * participants and a list, either is stricter than the other.
 */
export function isStricter(policy: SendPolicy, before: SendPolicy | null): boolean {
  return Object.values(STRICTER).some((isRuleStricter) => isRuleStricter(policy, before ?? {}));
}

/** Whether each rule of a policy is stricter than that of the one before. */
const STRICTER: Readonly<Record<PolicyRule, (policy: SendPolicy, before: SendPolicy) => boolean>> = {
  recipients({ recipients = 'any', allow = [] }, { recipients: had = 'any', allow: listed = [] }) {
    if (recipients === 'list' && had === 'list') return !listed.every((entry) => isListed(entry, allow));
    return recipients !== 'any' && recipients !== had;
  },
  per_hour: isLower('per_hour'),
  per_day: isLower('per_day'),
  auto_replies_per_thread_per_hour: isLower('auto_replies_per_thread_per_hour'),
  attachments: (policy, before) => policy.attachments === false && before.attachments !== false,
  links: (policy, before) => policy.links === false && before.links !== false,
  undo_seconds: (policy, before) => longestUndo([policy]) > longestUndo([before]),
  approval: ({ approval = 'never' }, { approval: had = 'never' }) =>
    approval !== 'never' && approval !== had && had !== 'always',
};

function isLower(rule: BudgetRule | 'auto_replies_per_thread_per_hour') {
  return (policy: SendPolicy, before: SendPolicy) => (policy[rule] ?? Infinity) < (before[rule] ?? Infinity);
}

function approvalBy(
  { of, policy }: HeldPolicy,
  { newRecipients, followsReview }: PolicyFacts,
): PolicyVerdict['approval'] {
  const { approval: rule = 'never' } = policy;
  if (rule === 'never') return null;
  if (rule === 'new_recipients' && newRecipients.length === 0) return null;
  if (rule === 'on_review' && !followsReview) return null;
  return { rule, of };
}

/** Emails per hour and per day are counted over the time until now. */
export const BUDGET_RULES = ['per_hour', 'per_day'] as const satisfies readonly PolicyRule[];
export type BudgetRule = (typeof BUDGET_RULES)[number];
export const BUDGET_SECONDS: Readonly<Record<BudgetRule, number>> = { per_hour: 3_600, per_day: 86_400 };

/** A limit on emails within a span of time, while a group of emails is checked. */
interface SpanLimit {
  /** emails that may be sent within any span */
  limit: number;
  spanSeconds: number;
  /** emails in the group, and those of them already allowed */
  asking: number;
  going: number;
  /** times of the emails before, newest first, without the newest `limit - asking` */
  newest: readonly Date[];
}

/** Returns when `wanted` more emails may be sent; null: now. */
export function blockedUntil(
  wanted: number,
  { limit, spanSeconds, asking, going, newest }: SpanLimit,
  now: Date,
): Date | null {
  const place = limit - going - wanted;
  const inTheWay = place < 0 ? now : newest[place - Math.max(0, limit - asking)];
  return inTheWay === undefined ? null : new Date(inTheWay.getTime() + spanSeconds * 1_000);
}
