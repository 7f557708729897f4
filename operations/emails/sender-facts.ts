import type { Authentication } from '../../core/mime/authentication.ts';
import type { SenderVerdict } from '../../core/mime/sender-verdict.ts';
import { judgeSender } from './security-warnings.ts';
import { readAuthentication } from './stored-authentication.ts';

/** What is known about the sender of a received email. */
export interface SenderFacts {
  /** null: not checked */
  authentication: Authentication | null;
  /** null: not checked */
  verdict: SenderVerdict | null;
}

/** Returns what stored authentication results say, with their keys in the same order wherever they come from. */
export function readSenderFacts(stored: unknown): SenderFacts {
  const authentication = readAuthentication(stored);
  return { authentication, verdict: authentication === null ? null : judgeSender(authentication) };
}
