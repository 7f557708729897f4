import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type DmarcRules, enforceDmarc, explainDmarcRefusal } from '../../core/screening/door/dmarc-enforcement.ts';
import type { Offer } from '../../db/queries/emails/accept-group.ts';
import type { Reply } from '../../schema/messages.ts';
import type { ParseOutcome } from './parse-messages.ts';
import type { ParsePool } from './parse-pool.ts';
import { makeParseRequest, type OpenReadAhead } from './take-messages.ts';

/** How long a message waits for its verdicts before it is accepted without; milliseconds. The question has 20 s. */
const VERDICT_MS = 8_000;

/** Refuses messages before they are committed. */
export interface DmarcGate {
  /** Returns the refusal of a message; null: it is accepted. `read` is what it says, if it was read already. */
  judge(offer: Offer, read: ParseOutcome | null): Promise<Reply<'receiving.message.accept'> | null>;
}

/** Returns null when nothing is refused: messages then wait for no verdict. */
export function createDmarcGate(
  rules: DmarcRules,
  { parser, reading, log }: { parser: ParsePool; reading: OpenReadAhead; log: Logger },
): DmarcGate | null {
  if (rules.enforcement !== 'reject') return null;
  return {
    async judge(offer, read) {
      // Imported mail was accepted elsewhere, and simulated mail was never sent.
      if (offer.envelope.isTest === true || offer.envelope.imported !== undefined) return null;
      const authentication = (read ?? (await readNow(offer)))?.authentication ?? null;
      if (authentication === null || enforceDmarc(authentication, rules) !== 'reject') return null;
      const text = explainDmarcRefusal(authentication);
      return { verdict: 'refused', code: 550, enhancedCode: '5.7.1', text, reason: 'dmarc' };
    },
  };

  /** A message that is slow to read, or was not read before its commit. */
  async function readNow(offer: Offer): Promise<ParseOutcome | null> {
    const begun = reading.find(offer.rawId) ?? parser.parse([makeParseRequest(offer)]).then(([outcome]) => outcome);
    try {
      return (await Promise.race([begun, sleep(VERDICT_MS, null, { ref: false })])) ?? null;
    } catch (error) {
      log.warn({ err: error }, 'a message could not be checked before its commit, it is accepted');
      return null;
    }
  }
}
