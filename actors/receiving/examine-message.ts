import { MAX_GUARDED_HTML_LENGTH, MAX_GUARDED_TEXT_LENGTH } from '../../core/routing/guard-facts.ts';
import type { Reply, Request } from '../../schema/messages.ts';
import type { ParsePool } from './parse-pool.ts';

/** Parses messages without receiving them, for users who test their routes. */
export interface Examiner {
  /** Handles the question of that name. */
  examine(
    request: Request<'receiving.message.examine'>,
    bytes: Uint8Array,
  ): Promise<Reply<'receiving.message.examine'>>;
}

/** Messages in progress at once: real mail goes first. */
const MAX_OPEN = 8;

export function createExaminer(parser: ParsePool): Examiner {
  let open = 0;
  return {
    async examine(request, bytes) {
      if (open >= MAX_OPEN) return { verdict: 'busy' };
      open++;
      try {
        const [outcome] = await parser.parse([{ ...request, emailId: 'examined', bytes }]);
        if (outcome === undefined) return { verdict: 'busy' };
        const { message, authentication, dmarcReport } = outcome;
        const isForged = authentication?.dmarc.result === 'fail';
        return {
          verdict: 'examined',
          subject: message.subject,
          addresses: message.addresses,
          attachments: message.attachments,
          authentication,
          injection: message.injection,
          textBody: message.textBody?.slice(0, MAX_GUARDED_TEXT_LENGTH).toWellFormed() ?? null,
          htmlBody: message.htmlBody?.slice(0, MAX_GUARDED_HTML_LENGTH).toWellFormed() ?? null,
          parseError: message.parseError,
          dmarcDomain: isForged ? null : (dmarcReport?.policy.domain ?? null),
        };
      } finally {
        open--;
      }
    },
  };
}
