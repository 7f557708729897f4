/** What a user did wrong or cannot have. Thrown by operations, mapped to the wire once in gateway/http/error-response.ts. */
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
  /** the offending field's path or the longer text of `details` */
  details?: unknown;
  /** of details that are a text: the field at fault */
  field?: string;
  /** wire name in the vocabulary of the `resend` client, when it is not the code's own */
  name?: string;
  /** the `code` of the wire, for programs, as DOMAIN_ALREADY_REGISTERED */
  reason?: string;
  /** further members of the wire's body, as dependentSubdomains */
  members?: Readonly<Record<string, unknown>>;
  /** the short `error` of the wire, when it is not the message */
  title?: string;
  /** when trying again may help */
  retryAfterSeconds?: number;
  /** whether trying again never helps, although the code suggests it might */
  isFinal?: boolean;
  /** whether the request is sound and what is there stands in its way, although the code is that of a wrong request */
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

/** The reason of an error that says that mail may not go to an address any more; `members.suppressedRecipients` lists them. */
export const RECIPIENT_SUPPRESSED = 'RECIPIENT_SUPPRESSED';
