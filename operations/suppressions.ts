import { UserError } from '../core/errors.ts';
import type { Page } from '../core/page.ts';
import { asUser } from '../db/database.ts';
import * as lists from '../db/queries/suppression-list.ts';
import { invalid, isAskable, type OperationContext } from './context.ts';
import { MAX_SEARCH_LENGTH } from './emails.ts';

export const SUPPRESSION_REASONS = ['bounce', 'complaint', 'manual'] as const;

export type Suppression = lists.Suppression;

/** What a list is asked for; absent puts no condition. */
export interface SuppressionQuery {
  reason?: Suppression['reason'] | undefined;
  search?: string | undefined;
}

/** A page, newest first, with the exact total. */
export function listSuppressions(
  { database, userId }: OperationContext,
  query: SuppressionQuery,
  page: Page,
): Promise<{ suppressions: Suppression[]; total: number }> {
  const sought = query.search?.trim() ?? '';
  if (sought.length > MAX_SEARCH_LENGTH)
    throw invalid(`Search text must not be longer than ${MAX_SEARCH_LENGTH} characters`, 'search');
  const conditions = { reason: query.reason ?? null, search: sought === '' ? null : sought };
  return asUser(database, userId, (transaction) => lists.listSuppressions(transaction, userId, conditions, page));
}

/** By its id or its address, in any case of letters. Throws not_found. */
export async function readSuppression(context: OperationContext, idOrAddress: string): Promise<Suppression> {
  return onOne(context, idOrAddress, lists.findSuppression);
}

/** Lifts a suppression, by its id or its address: mail goes there again. Throws not_found. */
export async function liftSuppression(context: OperationContext, idOrAddress: string): Promise<Suppression> {
  return onOne(context, idOrAddress, lists.deleteSuppression);
}

async function onOne(
  { database, userId }: OperationContext,
  idOrAddress: string,
  work: typeof lists.findSuppression,
): Promise<Suppression> {
  const isAddress =
    idOrAddress.includes('@') && idOrAddress.length <= MAX_ADDRESS_LENGTH && !idOrAddress.includes('\0');
  const found =
    isAddress || isAskable(idOrAddress)
      ? await asUser(database, userId, (transaction) => work(transaction, userId, idOrAddress))
      : null;
  if (found === null) throw new UserError('not_found', 'Suppression not found');
  return found;
}

/** Characters; longer than any address is (RFC 5321 §4.5.3.1.3). */
const MAX_ADDRESS_LENGTH = 320;
