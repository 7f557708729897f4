import { UserError } from '../../core/shared/errors.ts';
import { BusRemoteError, BusTimeout, BusUnavailable } from '../../schema/messages.ts';
import type { OperationContext } from '../context.ts';

/** Milliseconds that a question waits at most, that are left to read what it brought, and that a new domain waits for its first look. */
const LOOK_MS = 7_500;
const READING_MS = 1_000;
const FIRST_LOOK_MS = 4_000;
/** That an operation takes at most which looks at DNS. Milliseconds. */
export const DNS_CHECK_MS = 9_000;

/**
 * Has the DNS of these domains of the user looked at now. Those that could not be looked at in time stay as they are.
 * Throws unavailable when nobody looks.
 */
export async function checkDnsNow(context: OperationContext, domainIds: readonly string[]): Promise<void> {
  if (domainIds.length === 0) return;
  try {
    await ask(context, domainIds, LOOK_MS);
  } catch (error) {
    if (error instanceof BusTimeout || error instanceof BusUnavailable || error instanceof BusRemoteError)
      throw new UserError('unavailable', 'DNS cannot be looked at now', { cause: error });
    throw error;
  }
}

/** As checkDnsNow, for a domain that was just added: it is looked at later when that is not possible now. */
export async function checkNewDomainDns(context: OperationContext, domainId: string): Promise<void> {
  try {
    await ask(context, [domainId], FIRST_LOOK_MS);
  } catch (error) {
    context.log.info({ err: error, domainId }, 'a new domain is looked at later');
  }
}

async function ask({ bus, userId, answerBy }: OperationContext, domainIds: readonly string[], mostMs: number) {
  const limitMs = Math.max(1, Math.min(mostMs, answerBy - performance.now() - READING_MS));
  await bus.ask('scheduling.domain.check', { userId, domainIds: [...domainIds] }, { limitMs });
}
