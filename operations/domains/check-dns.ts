import { UserError } from '../../core/shared/errors.ts';
import { BusRemoteError, BusTimeout, BusUnavailable } from '../../schema/messages.ts';
import type { OperationContext } from '../context.ts';

/**
 * Milliseconds: the limit of a DNS check, the time reserved to read the result afterwards, and the limit of the first
 * check of a new domain.
 */
const LOOK_MS = 7_500;
const READING_MS = 1_000;
const FIRST_LOOK_MS = 4_000;
/** How long an operation with a DNS check can take. Milliseconds. */
export const DNS_CHECK_MS = 9_000;

/**
 * Checks the DNS of the user's domains now. Domains that could not be checked in time keep their status. Throws
 * unavailable when no scheduling actor responds.
 */
export async function checkDnsNow(context: OperationContext, domainIds: readonly string[]): Promise<void> {
  if (domainIds.length === 0) return;
  try {
    await ask(context, domainIds, LOOK_MS);
  } catch (error) {
    if (error instanceof BusTimeout || error instanceof BusUnavailable || error instanceof BusRemoteError)
      throw new UserError('unavailable', 'DNS cannot be checked now', { cause: error });
    throw error;
  }
}

/** Checks the DNS of a domain that was just added. On failure the regular check does it later. */
export async function checkNewDomainDns(context: OperationContext, domainId: string): Promise<void> {
  try {
    await ask(context, [domainId], FIRST_LOOK_MS);
  } catch (error) {
    context.log.info({ err: error, domainId }, 'domains: the first DNS check failed and is retried later');
  }
}

async function ask({ bus, workspaceId, respondBy }: OperationContext, domainIds: readonly string[], mostMs: number) {
  const limitMs = Math.max(1, Math.min(mostMs, respondBy - performance.now() - READING_MS));
  await bus.ask('scheduling.domain.check', { workspaceId, domainIds: [...domainIds] }, { limitMs });
}
