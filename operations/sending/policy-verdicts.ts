import type { ClientBase } from 'pg';
import type { ApprovalRule } from '../../core/sending/approval.ts';
import { MAX_AUTOMATIC_REPLIES } from '../../core/sending/automatic-reply.ts';
import { findCorrespondents } from '../../core/sending/correspondents.ts';
import { checkOutgoingContent } from '../../core/sending/outgoing-content.ts';
import {
  BUDGET_RULES,
  BUDGET_SECONDS,
  type BudgetRule,
  blockedUntil,
  type HeldPolicy,
  judgeByPolicies,
  type PolicyFacts,
  type PolicyRefusal,
  toViolation,
} from '../../core/sending/send-policy.ts';
import { POLICY_VIOLATION, UserError } from '../../core/shared/errors.ts';
import { findLinks, linkKeys } from '../../core/threads/threading.ts';
import { readCorrespondence, readOwnAddresses } from '../../db/queries/sending/correspondents.ts';
import type { Policy } from '../../db/queries/sending/outgoing-policy.ts';
import {
  countAutomatic,
  findReviewedMail,
  type ReviewedMail,
  readBudgets,
  readKnownRecipients,
} from '../../db/queries/sending/policy-facts.ts';
import { threadsOfKeys } from '../../db/queries/threads/thread-lookup.ts';
import { topLevelDomains } from '../emails/public-suffixes.ts';
import type { OutgoingEmail } from './compose-outgoing.ts';
import type { Submission } from './idempotency.ts';

/** Who sends a submission, as far as send policies matter. */
export interface PolicySubject {
  submission: Submission;
  /** the API key that sends it, or that set up the webhook whose action does; null: a person */
  keyId: string | null;
  /** whether a program sends it: what auto_replies_per_thread_per_hour counts */
  isAutomatic: boolean;
  /** whether an action of a webhook sends it */
  isOfWebhook?: boolean;
}

/** An email with the send policies that hold for it, at least one. */
interface HeldEmail {
  email: OutgoingEmail;
  isAutomatic: boolean;
  isOfWebhook: boolean;
  policies: HeldPolicy[];
}

/** The emails of a group that send policies hold for. */
export type HeldEmails = ReadonlyMap<OutgoingEmail, HeldEmail>;

/** Returns `ann@x.test` for `ann+news@x.test`: mail from an address with a tag is under the policy of the address. */
export function withoutTag(address: string): string {
  return address.replace(/^([^+]+)\+.*@/, '$1@');
}

/** Returns the emails that the policies hold for; empty for users who have none. */
export function heldEmails(
  group: readonly PolicySubject[],
  { keyPolicies, addressPolicies }: Pick<Policy, 'keyPolicies' | 'addressPolicies'>,
): HeldEmails {
  const held = new Map<OutgoingEmail, HeldEmail>();
  if (keyPolicies.size === 0 && addressPolicies.size === 0) return held;
  for (const { submission, keyId, isAutomatic, isOfWebhook = false } of group) {
    const ofKey = keyId === null ? undefined : keyPolicies.get(keyId);
    for (const email of submission.emails) {
      const policies: HeldPolicy[] = [];
      if (keyId !== null && ofKey !== undefined) policies.push({ of: 'key', owner: keyId, policy: ofKey });
      for (const address of new Set([email.row.own_address, withoutTag(email.row.own_address)])) {
        const policy = addressPolicies.get(address);
        if (policy !== undefined) policies.push({ of: 'address', owner: address, policy });
      }
      if (policies.length > 0) held.set(email, { email, isAutomatic, isOfWebhook, policies });
    }
  }
  return held;
}

/** Returns whether a policy counts emails, so that transactions that send under it must not run at the same time. */
export function areCounted(held: HeldEmails): boolean {
  return [...held.values()].some((each) => listBudgets(each).length > 0 || automaticLimits(each).length > 0);
}

/** What the policies say, with what is stored and what the group itself sends before. */
export interface PolicyJudge {
  /** Returns why a submission is refused; null when it may be stored, and then counts against the budgets. */
  judge(subject: PolicySubject): UserError | null;
  /** Returns the seconds that an email waits before it is sent; 0: none. */
  undoSecondsOf(email: OutgoingEmail): number;
  /** Returns why an email waits for approval; null: it does not. */
  approvalOf(email: OutgoingEmail): { rule: ApprovalRule; of: HeldPolicy['of'] } | null;
}

/** Reads what the policies ask about stored mail. When areCounted, the caller holds lockBudgets. */
export async function openPolicyJudge(
  client: ClientBase,
  workspaceId: string,
  held: HeldEmails,
  now: Date,
): Promise<PolicyJudge> {
  const emails = [...held.values()];
  const threads = await readThreads(client, workspaceId, emails);
  const participants = await readThreadParticipants(client, workspaceId, emails, threads);
  const known = await readKnown(client, workspaceId, emails);
  const reviewed = await readReviewed(client, workspaceId, emails);
  const budgets = await readUsedBudgets(client, workspaceId, emails);
  const automatic = await readAutomatic(client, workspaceId, emails, threads);
  const verdicts = new Map(emails.map((each) => [each.email, judgeByPolicies(each.policies, gatherFacts(each))]));

  function gatherFacts({ email, policies }: HeldEmail): PolicyFacts {
    const recipients = listRecipients(email);
    const asksForContent = policies.some(({ policy }) => policy.links === false || policy.attachments === false);
    return {
      recipients,
      participants: participants.get(email) ?? null,
      newRecipients: recipients.filter((address) => !known.has(address)),
      followsReview: reviewed !== null && followsReview(email, { ...reviewed, known }),
      content: asksForContent
        ? checkOutgoingContent(email.bytes, { topLevel: topLevelDomains(), hasOwnUnsubscribe: email.list !== null })
        : null,
    };
  }

  function makeRefusal({ submission }: PolicySubject): UserError | null {
    const counted = new Map<string, number>();
    for (const email of submission.emails) {
      const each = held.get(email);
      const verdict = verdicts.get(email);
      if (each === undefined || verdict === undefined) continue;
      if (verdict.refusal !== null) return ofEmail(verdict.refusal, email);
      for (const limit of automaticLimits(each)) {
        const key = automaticKey(limit.held, threads.get(email) ?? null);
        if (key === null) continue;
        const earlier = (automatic.get(key) ?? 0) + (counted.get(key) ?? 0);
        if (earlier >= limit.most) return ofEmail(automaticRefusal(limit), email);
        counted.set(key, (counted.get(key) ?? 0) + 1);
      }
    }
    return budgetRefusal(submission);
  }

  function budgetRefusal({ emails: sent }: Submission): UserError | null {
    for (const budget of budgets.values()) {
      const wanted = sent.filter((email) => hasBudget(held.get(email), budget)).length;
      if (wanted === 0) continue;
      const until = blockedUntil(wanted, budget, now);
      if (until !== null) return exhausted(budget, wanted, until, now);
    }
    return null;
  }

  function count({ submission }: PolicySubject): void {
    for (const email of submission.emails) {
      const each = held.get(email);
      if (each === undefined) continue;
      for (const budget of budgets.values()) if (hasBudget(each, budget)) budget.going++;
      for (const limit of automaticLimits(each)) {
        const key = automaticKey(limit.held, threads.get(email) ?? null);
        if (key !== null) automatic.set(key, (automatic.get(key) ?? 0) + 1);
      }
    }
  }

  return {
    judge(subject) {
      const refusal = makeRefusal(subject);
      if (refusal === null) count(subject);
      return refusal;
    },
    undoSecondsOf: (email) => verdicts.get(email)?.undoSeconds ?? 0,
    approvalOf: (email) => verdicts.get(email)?.approval ?? null,
  };
}

function listRecipients({ row }: OutgoingEmail): string[] {
  return row.recipients.map(({ address }) => address.toLowerCase());
}

/** The ids of messages that an email names in any way, as keys. */
function namedKeys({ row }: OutgoingEmail): string[] {
  return linkKeys(findLinks({ messageId: '', inReplyTo: row.in_reply_to, references: row.reference_ids }));
}

/** The message that an email replies to, as keys of msg-ids, the likeliest first; empty: it begins a thread. */
function listRepliedKeys({ row }: OutgoingEmail): string[] {
  const { inReplyTo, references } = findLinks({
    messageId: '',
    inReplyTo: row.in_reply_to,
    references: row.reference_ids,
  });
  return [...inReplyTo, ...references.toReversed()];
}

/** Returns the thread that each email replies to; without an entry: none that is known. */
async function readThreads(
  client: ClientBase,
  workspaceId: string,
  emails: readonly HeldEmail[],
): Promise<Map<OutgoingEmail, string>> {
  const asking = emails.filter((each) => asksForParticipants(each) || automaticLimits(each).length > 0);
  const keys = [...new Set(asking.flatMap(({ email }) => listRepliedKeys(email)))];
  if (keys.length === 0) return new Map();
  const threadOfKey = await threadsOfKeys(client, workspaceId, keys);
  return new Map(
    asking.flatMap(({ email }): [OutgoingEmail, string][] => {
      const key = listRepliedKeys(email).find((each) => threadOfKey.has(each));
      const threadId = key === undefined ? undefined : threadOfKey.get(key);
      return threadId === undefined ? [] : [[email, threadId]];
    }),
  );
}

function asksForParticipants({ policies }: HeldEmail): boolean {
  return policies.some(({ policy }) => policy.recipients === 'participants');
}

/** Returns who takes part in the thread of each reply, with those of its recipients that are the user's own addresses. */
async function readThreadParticipants(
  client: ClientBase,
  workspaceId: string,
  emails: readonly HeldEmail[],
  threads: ReadonlyMap<OutgoingEmail, string>,
): Promise<Map<OutgoingEmail, ReadonlySet<string>>> {
  const asking = emails.filter((each) => asksForParticipants(each) && listRepliedKeys(each.email).length > 0);
  if (asking.length === 0) return new Map();
  const questions = asking.map(({ email }) => {
    const threadId = threads.get(email);
    return threadId === undefined ? { messageId: listRepliedKeys(email)[0] ?? '' } : { threadId };
  });
  const { found, ownDomains } = await readCorrespondence(client, workspaceId, questions);
  const recipients = [...new Set(asking.flatMap(({ email }) => listRecipients(email)))];
  const own = await readOwnAddresses(client, workspaceId, recipients);
  return new Map(
    asking.flatMap(({ email }, at): [OutgoingEmail, ReadonlySet<string>][] => {
      const participants = findCorrespondents(found[at] ?? [], ownDomains);
      // Nothing that others wrote, or that was sent to them, is known of what it replies to.
      return participants.size === 0 ? [] : [[email, new Set([...participants, ...own])]];
    }),
  );
}

async function readKnown(client: ClientBase, workspaceId: string, emails: readonly HeldEmail[]): Promise<Set<string>> {
  const asking = emails.filter(({ policies }) =>
    policies.some(({ policy }) => policy.approval === 'new_recipients' || policy.approval === 'on_review'),
  );
  if (asking.length === 0) return new Set();
  const addresses = [...new Set(asking.flatMap(({ email }) => listRecipients(email)))];
  return new Set(await readKnownRecipients(client, workspaceId, addresses));
}

/** Returns what on_review asks about stored mail; null: no policy asks. */
async function readReviewed(
  client: ClientBase,
  workspaceId: string,
  emails: readonly HeldEmail[],
): Promise<(ReviewedMail & { own: ReadonlySet<string> }) | null> {
  const asking = emails.filter(({ policies }) => policies.some(({ policy }) => policy.approval === 'on_review'));
  if (asking.length === 0) return null;
  const each = (values: (email: OutgoingEmail) => readonly string[]) => [
    ...new Set(asking.flatMap(({ email }) => values(email))),
  ];
  const recipients = each(listRecipients);
  const found = await findReviewedMail(client, workspaceId, {
    keys: each(namedKeys),
    emailIds: each(({ forwardedId = null }) => (forwardedId === null ? [] : [forwardedId])),
    recipients,
    subjects: each(({ row }) => [row.base_subject]),
  });
  return { ...found, own: await readOwnAddresses(client, workspaceId, recipients) };
}

/**
 * Returns whether an email replies to or forwards mail that a person should look at, or may follow from it. What the email claims only adds
 * reasons: one that names no message is compared by its recipients and subject.
 */
function followsReview(
  email: OutgoingEmail,
  reviewed: ReviewedMail & { own: ReadonlySet<string>; known: ReadonlySet<string> },
): boolean {
  const { keys, emailIds, subjects, recipients, isRecent, isFlood, own, known } = reviewed;
  const others = listRecipients(email).filter((address) => !own.has(address));
  return (
    isFlood ||
    subjects.has(email.row.base_subject) ||
    (email.forwardedId !== undefined && emailIds.has(email.forwardedId)) ||
    namedKeys(email).some((key) => keys.has(key)) ||
    others.some((address) => recipients.has(address) || (isRecent && !known.has(address)))
  );
}

/** A budget while a group is checked; see blockedUntil. */
interface Budget {
  held: HeldPolicy;
  rule: BudgetRule;
  limit: number;
  asking: number;
  going: number;
  spanSeconds: number;
  newest: readonly Date[];
}

function listBudgets({ policies }: HeldEmail): { held: HeldPolicy; rule: BudgetRule; limit: number }[] {
  return policies.flatMap((held) =>
    BUDGET_RULES.flatMap((rule) => {
      const limit = held.policy[rule];
      return limit === undefined ? [] : [{ held, rule, limit }];
    }),
  );
}

function budgetKey({ held, rule }: Pick<Budget, 'held' | 'rule'>): string {
  return `${rule} ${held.of} ${held.owner}`;
}

function hasBudget(each: HeldEmail | undefined, budget: Budget): boolean {
  return each !== undefined && listBudgets(each).some((one) => budgetKey(one) === budgetKey(budget));
}

async function readUsedBudgets(
  client: ClientBase,
  workspaceId: string,
  emails: readonly HeldEmail[],
): Promise<Map<string, Budget>> {
  const budgets = new Map<string, Budget>();
  for (const each of emails)
    for (const one of listBudgets(each)) {
      const budget = budgets.get(budgetKey(one)) ?? {
        ...one,
        asking: 0,
        going: 0,
        spanSeconds: BUDGET_SECONDS[one.rule],
        newest: [],
      };
      budgets.set(budgetKey(one), { ...budget, asking: budget.asking + 1 });
    }
  if (budgets.size === 0) return budgets;
  const asked = [...budgets.values()];
  const found = await readBudgets(
    client,
    workspaceId,
    asked.map(({ held: { of, owner }, limit, asking, spanSeconds }) => ({
      of,
      owner,
      spanSeconds,
      offset: Math.max(0, limit - asking),
      limit: asking,
    })),
  );
  return new Map(asked.map((budget, at) => [budgetKey(budget), { ...budget, newest: found[at] ?? [] }]));
}

interface AutomaticLimit {
  held: HeldPolicy;
  most: number;
}

/** Replies of webhooks' actions have their own limit as well, which counts nothing while a policy makes mail wait. */
function automaticLimits({ policies, isAutomatic, isOfWebhook }: HeldEmail): AutomaticLimit[] {
  if (!isAutomatic) return [];
  return policies.flatMap((held) => {
    const own = held.policy.auto_replies_per_thread_per_hour;
    const most = isOfWebhook ? Math.min(own ?? MAX_AUTOMATIC_REPLIES, MAX_AUTOMATIC_REPLIES) : own;
    return most === undefined ? [] : [{ held, most }];
  });
}

function automaticKey({ of, owner }: HeldPolicy, threadId: string | null): string | null {
  return threadId === null ? null : `${of} ${owner} ${threadId}`;
}

async function readAutomatic(
  client: ClientBase,
  workspaceId: string,
  emails: readonly HeldEmail[],
  threads: ReadonlyMap<OutgoingEmail, string>,
): Promise<Map<string, number>> {
  const questions = new Map(
    emails.flatMap((each) =>
      automaticLimits(each).flatMap(({ held: { of, owner } }) => {
        const threadId = threads.get(each.email);
        return threadId === undefined ? [] : [[`${of} ${owner} ${threadId}`, { of, owner, threadId }] as const];
      }),
    ),
  );
  if (questions.size === 0) return new Map();
  const counts = await countAutomatic(client, workspaceId, [...questions.values()]);
  return new Map([...questions.keys()].map((key, at) => [key, counts[at] ?? 0]));
}

function automaticRefusal({ held, most }: AutomaticLimit): PolicyRefusal {
  const emails = most === 1 ? '1 automatic reply' : `${most} automatic replies`;
  return toViolation(held, 'auto_replies_per_thread_per_hour', `allows ${emails} in a thread within an hour.`);
}

function exhausted(budget: Budget, wanted: number, until: Date, now: Date): UserError {
  const { held, rule, limit } = budget;
  const span = rule === 'per_hour' ? 'hour' : 'day';
  const allowed = `allows ${limit} ${limit === 1 ? 'email' : 'emails'} per ${span}`;
  const refusal = toViolation(
    held,
    rule,
    wanted > limit
      ? `${allowed}, and this request has ${wanted}.`
      : `${allowed}, and they are used up. ${wanted === 1 ? 'The next email' : `Room for ${wanted} emails`} is possible from ${until.toISOString()}.`,
  );
  const waitSeconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1_000));
  return violation(refusal, null, wanted > limit ? undefined : waitSeconds);
}

/** Returns the error of a refusal; `field` null: all emails of the request are refused together. */
export function violation(refusal: PolicyRefusal, field: string | null, retryAfterSeconds?: number): UserError {
  const { rule, of, owner, message } = refusal;
  return new UserError('forbidden', message, {
    name: 'policy_violation',
    title: 'Forbidden',
    reason: POLICY_VIOLATION,
    ...(field === null ? {} : { details: [{ field, message }] }),
    members: { rule, policyOf: of === 'key' ? 'api_key' : 'email_address', policyOwner: owner },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

function ofEmail(refusal: PolicyRefusal, email: OutgoingEmail): UserError {
  return violation(refusal, readField(refusal, email));
}

function readField({ rule, recipient, field }: PolicyRefusal, { path, audience, html }: OutgoingEmail): string {
  const inPath = (name: string) => `${path}${name}`;
  if (field !== null) return inPath(field);
  switch (rule) {
    case 'recipients':
      return inPath(
        (['to', 'cc', 'bcc'] as const).find((list) =>
          audience[list].some((address) => address.toLowerCase() === recipient),
        ) ?? 'to',
      );
    case 'attachments':
      return inPath('attachments');
    case 'links':
      return inPath(html === null ? 'text' : 'html');
    case 'per_hour':
    case 'per_day':
    case 'undo_seconds':
    case 'auto_replies_per_thread_per_hour':
    case 'approval':
      return inPath('from');
  }
}
