import { UserError } from '../../core/shared/errors.ts';
import { DkimKey } from '../../db/entities/domains.ts';
import * as changes from '../../db/queries/domains/domain-change.ts';
import { invalid, type OperationContext } from '../context.ts';
import { type DomainDetails, domainNotFound, readDomain } from './domains.ts';
import { makeDkimKey } from './make-dkim-key.ts';

/**
 * Creates a new DKIM key. It replaces the current key once its DNS record is published; until then both records are
 * shown. Throws not_found, validation when the parent domain signs, conflict while another new key waits, unavailable.
 */
export async function rotateDkimKey(context: OperationContext, domainId: string): Promise<DomainDetails> {
  const { workspaceId, now, random, settings } = context;
  refuseRotation(await readDomain(context, domainId));
  const key = await makeDkimKey({ secretKey: settings.secretKey, now, random });
  await context.entities.asWorkspace(workspaceId, async ({ entities, transaction }) => {
    if ((await changes.lockDomain(transaction, workspaceId, domainId)) === null) throw domainNotFound();
    const states = await changes.readKeyStates(transaction, workspaceId, domainId);
    if (states.includes('waiting')) throw keyWaits();
    // Without an active key there is no key to keep until the new record is seen.
    const activatedAt = states.includes('active') ? null : now();
    entities.create(DkimKey, { workspaceId, domainId, ...key, activatedAt });
    await changes.checkSoon(transaction, workspaceId, domainId);
  });
  return readDomain(context, domainId);
}

function refuseRotation({ parent, dkimKeys }: DomainDetails): void {
  if (parent !== null)
    throw invalid(
      `Mail of this domain is signed with the key of ${parent.name}. Rotate the key of ${parent.name} instead.`,
      'id',
    );
  if (dkimKeys.some(({ state }) => state === 'waiting')) throw keyWaits();
}

function keyWaits(): UserError {
  return new UserError('conflict', 'A new DKIM key is already waiting for its record to be published', {
    reason: 'DKIM_KEY_WAITING',
    isFinal: true,
  });
}
