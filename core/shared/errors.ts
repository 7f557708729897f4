/** Codes of errors that a user caused. Operations throw them; gateway/http/error-response.ts maps them to the wire. */
export type UserErrorCode =
  | 'validation'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'gone'
  | 'rate_limited'
  | 'unavailable';

export interface UserErrorOptions {
  /** path of the invalid field, or the longer text of `details` */
  details?: unknown;
  /** the invalid field, when details is a text */
  field?: string;
  /** wire name for the `resend` client, if it differs from the name of the code */
  name?: string;
  /** the `code` on the wire, for programs, such as DOMAIN_ALREADY_REGISTERED */
  reason?: string;
  /** additional members of the response body, such as dependentSubdomains */
  members?: Readonly<Record<string, unknown>>;
  /** the short `error` on the wire, if it differs from the message */
  title?: string;
  /** set when a retry may succeed */
  retryAfterSeconds?: number;
  /** whether a retry never succeeds, although the code suggests it */
  isFinal?: boolean;
  /** whether the request is valid but conflicts with the current state, although the code is one of invalid requests */
  isOfState?: boolean;
  cause?: unknown;
}

export class UserError extends Error {
  override name = 'UserError';
  readonly code: UserErrorCode;
  readonly details: unknown;
  readonly field: string | undefined;
  readonly wireName: string | undefined;
  readonly reason: string | undefined;
  readonly members: Readonly<Record<string, unknown>>;
  readonly title: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly isFinal: boolean;
  readonly isOfState: boolean;

  constructor(code: UserErrorCode, message: string, options: UserErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.details = options.details;
    this.field = options.field;
    this.wireName = options.name;
    this.reason = options.reason;
    this.members = options.members ?? {};
    this.title = options.title;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isFinal = options.isFinal ?? false;
    this.isOfState = options.isOfState ?? false;
  }
}

/** The reason of an error about suppressed recipients; `members.suppressedRecipients` lists them. */
export const RECIPIENT_SUPPRESSED = 'RECIPIENT_SUPPRESSED';

/** The reason of an error about a virus in an outgoing email; `members.virus` is its name. */
export const VIRUS_FOUND = 'VIRUS_FOUND';

/** The reason of an error by which a send policy refuses an email; `members.rule` is the rule. */
export const POLICY_VIOLATION = 'POLICY_VIOLATION';
