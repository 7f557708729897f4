import type { SendingOutcome } from '../../core/smtp/delivery-status.ts';
import type { Leased } from '../work/leases.ts';

/** A recipient that this process has claimed and not yet recorded. */
export interface SendingJob extends Leased {
  recipientId: string;
  emailId: string;
  address: string;
  /** of the address */
  domain: string;
  /** attempts before this one */
  attempts: number;
  /** of the attempt's row */
  number: number;
  /** time between queueing and claim; seconds */
  ageSeconds: number;
  isSuppressed: boolean;
  /** of a forwarded copy of a received email */
  isForwarded: boolean;
  /** on performance.now() */
  claimedAt: number;
}

/** The recipients of one email, or of one forwarded copy, in one domain. They go in one SMTP transaction if the server allows it. */
export interface Transaction {
  workspaceId: string;
  emailId: string;
  /** null when the raw message was removed */
  rawId: string | null;
  /** of the stored message; 0 when it was removed */
  bytes: number;
  /** of the recipients */
  domain: string;
  /** of the From address */
  senderDomain: string;
  isSenderVerified: boolean;
  /** mail from the service's own address (SYSTEM_MAIL_FROM), on behalf of the user or of the service itself */
  isSystemSender: boolean;
  /** the domain of return addresses; null when the reverse-path is null (RFC 5321 §4.5.5) */
  returnDomain: string | null;
  isHosted: boolean;
  jobs: SendingJob[];
}

/** The result of an attempt for one recipient. */
export interface AttemptResult {
  job: SendingJob;
  outcome: SendingOutcome;
  /** a retry would not help, although no server said so */
  isHopeless?: boolean;
  /** after an internal fault: seconds until the next try; null when the row is dead */
  faultRetrySeconds?: number | null;
  /** the text is a server's reply */
  isReply: boolean;
  code: number | null;
  status: string | null;
  text: string;
  /** null when no connection was made */
  host: string | null;
  remoteAddress: string | null;
  isTls: boolean | null;
  /** the recipient that the return address was made for; null when nothing was sent */
  returnId: string | null;
  /** see core/sending/relayed-id.ts; omitted unless a relay accepted the message */
  relayedIds?: readonly string[];
}
