import type { SendingOutcome } from '../../core/smtp/delivery-status.ts';
import type { Leased } from '../work/leases.ts';

/** A recipient in hand: claimed, and not yet recorded. */
export interface SendingJob extends Leased {
  recipientId: string;
  emailId: string;
  address: string;
  /** of the address */
  domain: string;
  /** tries made before */
  attempts: number;
  /** of the attempt that was written */
  number: number;
  /** since it was queued, at the claim; seconds */
  ageSeconds: number;
  isSuppressed: boolean;
  /** on performance.now() */
  claimedAt: number;
}

/** Recipients of one email, or of one forwarded copy of it, in one domain: they go in one SMTP transaction where the server allows. */
export interface Transaction {
  userId: string;
  emailId: string;
  /** null when the bytes are gone */
  rawId: string | null;
  /** of the message, as stored; 0 when it is gone */
  octets: number;
  /** of the recipients */
  domain: string;
  /** of the From address */
  senderDomain: string;
  isSenderVerified: boolean;
  /** mail from the service's own address (SYSTEM_MAIL_FROM), on behalf of the user or of the service itself */
  isSystemSender: boolean;
  /** the domain of return addresses; null: the reverse-path is null (RFC 5321 §4.5.5) */
  returnDomain: string | null;
  isHosted: boolean;
  jobs: SendingJob[];
}

/** What an attempt came to for one recipient. */
export interface AttemptResult {
  job: SendingJob;
  outcome: SendingOutcome;
  /** nothing will change by trying again, though no server said so */
  isHopeless?: boolean;
  /** by a fault of ours: until the next try; null: it is dead */
  faultRetrySeconds?: number | null;
  /** the words are a server's, not ours */
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
}
