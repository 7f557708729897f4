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

/** Our own verdicts on the origin of a received message; its own claims are ignored. Stored as email_content.authentication. */
export interface Authentication {
  /** for the domain of the reverse-path, or the HELO name when the reverse-path is null (RFC 7208); `domain` is the one checked */
  spf: { result: AuthenticationResult; domain: string | null };
  /** one per DKIM-Signature field, at most {@link MAX_SIGNATURES} (RFC 6376) */
  dkim: { result: AuthenticationResult; domain: string | null; selector: string | null }[];
  /** for the From domain (RFC 9989); `policy` is the published one, null when there is none */
  dmarc: { result: AuthenticationResult; policy: 'none' | 'quarantine' | 'reject' | null; domain: string | null };
  /** for the chain of ARC sets (RFC 8617); `none` when there is no chain */
  arc: {
    result: AuthenticationResult;
    /** the server that sealed the message last, if the chain passes */
    domain?: string | null;
  };
  /** whether there are several From fields: no honest mail program writes two, and readers differ in which one they show */
  hasSeveralFromFields: boolean;
}

/** Maximum reported signatures per message. */
export const MAX_SIGNATURES = 50;

/** Returns the verdicts for a message that could not be checked in time. */
export function undecided(hasSeveralFromFields: boolean): Authentication {
  return {
    spf: { result: 'temperror', domain: null },
    dkim: [],
    dmarc: { result: 'temperror', policy: null, domain: null },
    arc: { result: 'temperror' },
    hasSeveralFromFields,
  };
}
