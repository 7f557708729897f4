import type { DmarcReport } from '../../core/domains/dmarc-report.ts';
import type { Authentication } from '../../core/mime/authentication.ts';
import type { MailReport } from '../../core/mime/parse-bounce.ts';
import type { ParsedMessage } from '../../core/mime/parse-message.ts';
import type { Reception } from '../../db/queries/emails/reception-claim.ts';
import type { SenderFacts } from './authenticate-message.ts';

/** A message to be parsed. */
export interface ParseRequest extends SenderFacts {
  emailId: string;
  bytes: Uint8Array;
  /** whether its origin was checked before and must not be checked again */
  isOriginKnown?: boolean;
  /** the emails that it becomes; none by default */
  emails?: readonly Pick<Reception, 'recipient'>[];
}

/** The result. */
export interface ParseOutcome {
  emailId: string;
  /** from the header section alone, and with parseError, when the message could not be parsed */
  message: ParsedMessage;
  /** null when the message could not be parsed */
  authentication: Authentication | null;
  /** the return address decides whether to believe it; null when the message has no readable report */
  report: MailReport | null;
  /** null when the message has no readable DMARC report */
  dmarcReport: DmarcReport | null;
}

/** What the pool passes to a worker at its start. */
export interface WorkerSettings {
  dnsServers: readonly string[];
  /** four 32-bit integers, see {@link CURRENT}, {@link PROGRESS}, {@link THREAD_NUMBER} and {@link IS_ASIDE} */
  state: SharedArrayBuffer;
}

/** A message on its way to a worker; the key is assigned by the pool. */
export interface WorkItem extends ParseRequest {
  key: number;
}

/** What a worker posts for each work item. */
export interface WorkResult {
  key: number;
  outcome: ParseOutcome;
}

/** Index in the shared state: key of the message that is being parsed, 0 when there is none. */
export const CURRENT = 0;
/** Index in the shared state: a counter of finished steps, which reveals a hanging thread. */
export const PROGRESS = 1;
/** Index in the shared state: what the thread's processor time is found by, see readThreadNumber. */
export const THREAD_NUMBER = 2;
/** Index in the shared state: 1 when other threads parse the messages behind the current one. */
export const IS_ASIDE = 3;
