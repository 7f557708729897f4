import { UserError } from '../../core/shared/errors.ts';
import { asUser } from '../../db/connection/database.ts';
import { addDkimKey } from '../../db/queries/domains/dkim-key.ts';
import * as changes from '../../db/queries/domains/domain-change.ts';
import { invalid, type OperationContext } from '../context.ts';
import { type DomainDetails, domainNotFound, readDomain } from './domains.ts';
import { makeDkimKey } from './make-dkim-key.ts';

/**
 * Makes the key that replaces the one which mail is signed with, as soon as its record is seen; both records are shown until then.
 * Throws not_found, validation where the domain above it signs, conflict while another key waits, unavailable.
 */
export async function rotateDkimKey(context: OperationContext, domainId: string): Promise<DomainDetails> {
  const { userId, now, random, settings } = context;
  refuseRotation(await readDomain(context, domainId));
  const key = await makeDkimKey({ secretKey: settings.secretKey, now, random });
  await asUser(context.database, userId, async (transaction) => {
    if ((await changes.lockDomain(transaction, userId, domainId)) === null) throw domainNotFound();
    const states = await changes.readKeyStates(transaction, userId, domainId);
    if (states.includes('waiting')) throw keyWaits();
    // Where nothing signs there is nothing to go on with.
    const activatedAt = states.includes('active') ? null : now();
    await addDkimKey(transaction, { userId, domainId }, { ...key, activatedAt });
    await changes.checkSoon(transaction, userId, domainId);
  });
  return readDomain(context, domainId);
}

function refuseRotation({ parent, dkimKeys }: DomainDetails): void {
  if (parent !== null)
    throw invalid(`Mail of this domain is signed with the key of ${parent.name}. Change that one.`, 'id');
  if (dkimKeys.some(({ state }) => state === 'waiting')) throw keyWaits();
}

function keyWaits(): UserError {
  return new UserError('conflict', 'A new DKIM key is already waiting for its record to be published', {
    reason: 'DKIM_KEY_WAITING',
    isFinal: true,
  });
}
