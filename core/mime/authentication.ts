/** Results of checking a message (RFC 8601 §2.7). `temperror`: DNS did not respond in time. */
export const AUTHENTICATION_RESULTS = [
  'pass',
  'fail',
  'softfail',
  'neutral',
  'none',
  'policy',
  'temperror',
  'permerror',
] as const;
export type AuthenticationResult = (typeof AUTHENTICATION_RESULTS)[number];

/**
 * Our own verdicts on where a received message came from, never those that it claims in fields of its own.
 * Stored as email_content.authentication.
 */
export interface Authentication {
  /** of the reverse-path's domain, or of the HELO name when the reverse-path is null (RFC 7208); domain is the one that was checked */
  spf: { result: AuthenticationResult; domain: string | null };
  /** one per DKIM-Signature field, at most {@link MAX_SIGNATURES} (RFC 6376) */
  dkim: { result: AuthenticationResult; domain: string | null; selector: string | null }[];
  /** of the From domain (RFC 9989); policy is the published one, null when there is none */
  dmarc: { result: AuthenticationResult; policy: 'none' | 'quarantine' | 'reject' | null; domain: string | null };
  /** of the chain of ARC sets (RFC 8617); `none` when there is no chain */
  arc: { result: AuthenticationResult };
  /** whether there is more than one From field: no honest mailer writes two, and programs differ in which one they show */
  hasSeveralFromFields: boolean;
}

/** Signatures of one message that are reported. */
export const MAX_SIGNATURES = 50;

/** The verdicts when nothing could be checked in time. */
export function undecided(hasSeveralFromFields: boolean): Authentication {
  return {
    spf: { result: 'temperror', domain: null },
    dkim: [],
    dmarc: { result: 'temperror', policy: null, domain: null },
    arc: { result: 'temperror' },
    hasSeveralFromFields,
  };
}
