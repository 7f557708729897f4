/** Why an address is suppressed. */
export const SUPPRESSION_REASONS = ['bounce', 'complaint', 'manual'] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

/** A permanent rejection of a recipient, by a server's reply or a DSN. */
export interface Refusal {
  /** of the SMTP reply; null if only a DSN is known */
  code: number | null;
  /** such as `5.1.1` (RFC 3463); null when missing */
  status: string | null;
}

/**
 * Returns whether a rejection means that the address accepts no mail at all and should be suppressed. Every rejection of class 5 means
 * that, except those about the message, the sender or the SMTP session. For an unspecific status (x.0.0) the reply code decides.
 */
export function suppressesAddress({ code, status }: Refusal): boolean {
  if (status !== null && !status.endsWith('.0.0')) return status.startsWith('5.') && !NOT_ABOUT_ADDRESS.test(status);
  if (code === null) return status?.startsWith('5.') ?? false;
  return Math.trunc(code / 100) === 5 && !CODES_NOT_ABOUT_ADDRESS.has(code);
}

/**
 * 5.1.7 and 5.1.8: the sender's address; 5.2.2: a full mailbox; 5.2.3 and 5.3.4: the size; 5.5.1 to 5.5.6: the commands; 5.6: the
 * content; 5.7: policy and trust (RFC 3463 §3, IANA "SMTP Enhanced Status Codes").
 */
const NOT_ABOUT_ADDRESS = /^5\.(?:1\.[78]|2\.[23]|3\.4|5\.[1-6]|6\.\d+|7\.\d+)$/;

/**
 * 500 to 504: unknown command; 530 to 538: authentication; 552: no storage left; 554: transaction failed, which servers use for content
 * far more often than for an address (RFC 5321 §4.2.3). If 554 was about the address, the next message bounces the same way; a wrong
 * suppression would stop wanted mail until a user notices.
 */
const CODES_NOT_ABOUT_ADDRESS = new Set([500, 501, 502, 503, 504, 530, 534, 535, 538, 552, 554, 555]);
