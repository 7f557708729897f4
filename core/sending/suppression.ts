import { isHardReason } from './refusal-advice.ts';
import { type Refusal, refusalReason } from './refusal-reason.ts';

/** Why an address is suppressed. */
export const SUPPRESSION_REASONS = ['bounce', 'complaint', 'manual', 'unsubscribe'] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

/**
 * Returns whether a permanent rejection means that the address can receive no mail at all and should be suppressed: the reply's wording,
 * its enhanced status or its code say so. When they say nothing specific, the address is not suppressed: if it is dead, the next message
 * bounces the same way, while a wrong suppression stops wanted mail until a user notices.
 */
export function suppressesAddress(refusal: Refusal): boolean {
  const isPermanent = (refusal.status ?? String(refusal.code ?? '')).startsWith('5');
  return isPermanent && isHardReason(refusalReason(refusal));
}
