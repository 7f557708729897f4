/*
 * Approval of mail that a send policy makes wait. The states of such an email, as `status`:
 *
 *   awaiting_approval -> scheduled (approved; it is sent when its time has come) -> sent mail
 *   awaiting_approval -> rejected  (a person or key rejected it, or its time to wait was over)
 *   awaiting_approval -> cancelled (its sender cancelled it)
 *
 * An email that was approved, rejected or cancelled never waits again.
 */

/** The rule of the policy that makes an email wait: see PolicyApproval in send-policy.ts. */
export const APPROVAL_RULES = ['on_review', 'new_recipients', 'always'] as const;
export type ApprovalRule = (typeof APPROVAL_RULES)[number];

/** How the wait ended; `expired` also leaves the email `rejected`. */
export const APPROVAL_DECISIONS = ['approved', 'rejected', 'expired', 'cancelled'] as const;
export type ApprovalDecision = (typeof APPROVAL_DECISIONS)[number];

/** Days that an email waits for approval by default, and at most. */
export const DEFAULT_APPROVAL_DAYS = 7;
export const MAX_APPROVAL_DAYS = 365;

/** Maximum length of the reason for a rejection; characters (code points). */
export const MAX_REJECTION_REASON_LENGTH = 500;

/** Returns the reason in its stored form: NFC, trimmed, null when it is empty; undefined when it is too long or has control characters. */
export function normalizeReason(text: string | null): string | null | undefined {
  if (text === null) return null;
  if (!text.isWellFormed()) return undefined;
  const reason = text.normalize('NFC').trim();
  if (Array.from(reason).length > MAX_REJECTION_REASON_LENGTH || /[\p{Cc}--[\n\t]]/v.test(reason)) return undefined;
  return reason === '' ? null : reason;
}
