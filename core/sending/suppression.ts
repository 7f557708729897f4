/** Why no mail is sent to an address any more. */
export const SUPPRESSION_REASONS = ['bounce', 'complaint', 'manual'] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

/** What a server or a DSN said of a recipient when it refused for good. */
export interface Refusal {
  /** of the SMTP reply; null when only a DSN tells */
  code: number | null;
  /** `5.1.1` (RFC 3463); null when none was given */
  status: string | null;
}

/**
 * Whether an address that was refused like this takes no mail at all, so that none is sent to it any more. Every refusal of class 5
 * means that, except those that speak of something else: the message, the sender, or the dialogue. A status that says nothing in
 * particular (x.0.0) leaves the word to the code.
 */
export function suppressesAddress({ code, status }: Refusal): boolean {
  if (status !== null && !status.endsWith('.0.0')) return status.startsWith('5.') && !OF_SOMETHING_ELSE.test(status);
  if (code === null) return status?.startsWith('5.') ?? false;
  return Math.trunc(code / 100) === 5 && !CODES_OF_SOMETHING_ELSE.has(code);
}

/**
 * 5.1.7 and 5.1.8: the sender's address; 5.2.2: a full mailbox; 5.2.3 and 5.3.4: the size; 5.5.1 to 5.5.6: the commands; 5.6: the
 * content; 5.7: policy and trust (RFC 3463 §3, IANA "SMTP Enhanced Status Codes").
 */
const OF_SOMETHING_ELSE = /^5\.(?:1\.[78]|2\.[23]|3\.4|5\.[1-6]|6\.\d+|7\.\d+)$/;

/**
 * 500 to 504: a command was not understood; 530 to 538: authentication; 552: no storage left; 554: the transaction failed, which is
 * what servers say to content far more often than to an address (RFC 5321 §4.2.3). Where it is meant for the address the
 * next mail bounces like this one; a wrong suppression would keep wanted mail from going out until somebody finds it.
 */
const CODES_OF_SOMETHING_ELSE = new Set([500, 501, 502, 503, 504, 530, 534, 535, 538, 552, 554, 555]);
