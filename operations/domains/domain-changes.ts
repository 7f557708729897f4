import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { holdWorkspace } from '../../db/queries/accounts/key-grant.ts';
import * as changes from '../../db/queries/domains/domain-change.ts';
import { requireRouteGrant } from '../accounts/key-grants.ts';
import { invalid, isValidId, type OperationContext } from '../context.ts';
import { checkDnsNow } from './check-dns.ts';
import { type DomainDetails, domainNotFound, loadDomains, readDomain } from './domains.ts';

/** The changes; omitted fields stay as they are. */
export interface DomainChange {
  isCatchAllEnabled?: boolean | undefined;
  /** the endpoint for mail to unknown addresses; required to enable the catch-all unless it only stores */
  catchAllEndpointId?: string | null | undefined;
  /** with isCatchAllEnabled: mail to unknown addresses is accepted and stored, and delivered to no endpoint */
  isCatchAllStoreOnly?: boolean | undefined;
  receiveDmarcEmails?: boolean | undefined;
}

/** Changes a verified domain. A catch-all that is disabled, or only stores, has no endpoint. Throws validation, not_found. */
export async function updateDomain(
  context: OperationContext,
  domainId: string,
  change: DomainChange,
): Promise<DomainDetails> {
  const { isCatchAllEnabled, catchAllEndpointId = null, isCatchAllStoreOnly = false, receiveDmarcEmails } = change;
  const { workspaceId } = context;
  const { name } = await readDomain(context, domainId);
  if (isCatchAllEnabled === undefined && receiveDmarcEmails === undefined)
    throw invalid('isCatchAllEnabled is required', 'isCatchAllEnabled');
  if (isCatchAllStoreOnly && isCatchAllEnabled !== true)
    throw invalid('isCatchAllStoreOnly needs isCatchAllEnabled: true', 'isCatchAllStoreOnly');
  if (isCatchAllStoreOnly && catchAllEndpointId !== null)
    throw invalid('Give either catchAllEndpointId or isCatchAllStoreOnly: true, not both', 'isCatchAllStoreOnly');
  await asWorkspace(context.database, workspaceId, async (transaction) => {
    if (catchAllEndpointId !== null) await holdWorkspace(transaction, workspaceId);
    // The endpoint is locked before the domain, the same order as in deleteEndpoint.
    const endpoint =
      isCatchAllEnabled === true && catchAllEndpointId !== null && isValidId(catchAllEndpointId)
        ? await changes.lockEndpoint(transaction, workspaceId, catchAllEndpointId)
        : null;
    const domain = await changes.lockDomain(transaction, workspaceId, domainId);
    if (domain === null) throw domainNotFound();
    if (domain.status !== 'verified') throw invalid('Domain must be verified', 'id');
    if (isCatchAllEnabled === true && !isCatchAllStoreOnly) {
      if (catchAllEndpointId === null)
        throw invalid('catchAllEndpointId is required when enabling catch-all', 'catchAllEndpointId');
      if (endpoint === null) throw new UserError('not_found', 'Endpoint not found');
      if (!endpoint.isActive) throw invalid('Endpoint is not active', 'catchAllEndpointId');
    }
    const catchAll =
      isCatchAllEnabled === undefined
        ? null
        : isCatchAllEnabled && !isCatchAllStoreOnly
          ? { isEnabled: true, endpointId: catchAllEndpointId, ...(await requireRouteGrant(context, transaction)) }
          : { isEnabled: isCatchAllEnabled, endpointId: null, routeSetByKeyId: null, routeGrantedScopes: null };
    const row = { catchAll, receiveDmarcEmails: receiveDmarcEmails ?? null, updatedAt: context.now() };
    await changes.changeDomain(transaction, workspaceId, domainId, row);
  });
  context.bus.publish('routing.changed', { name });
  return readDomain(context, domainId);
}

/** Domains per call. */
const MAX_CHECKED = 100;

/**
 * Checks the DNS of several domains now. Domains that could not be checked in time keep their status. Throws
 * validation, not_found, unavailable.
 */
export async function checkDomains(context: OperationContext, domainIds: readonly string[]): Promise<void> {
  const ids = [...new Set(domainIds)];
  if (ids.length === 0 || ids.length > MAX_CHECKED) throw invalid(`1 to ${MAX_CHECKED} domains are allowed`, 'ids');
  if ((await loadDomains(context, ids)).includes(null)) throw domainNotFound();
  await checkDnsNow(context, ids);
}

/** What was deleted along with a domain. */
export interface DeletedDomain {
  name: string;
  addressCount: number;
  recordCount: number;
  /** whether it was the verified owner of its name */
  wasVerified: boolean;
}

/**
 * Deletes a domain with its addresses, keys and DMARC reports. Its mail stays readable, and its name becomes available.
 * Throws not_found, and conflict while the user has subdomains of it.
 */
export async function deleteDomain(context: OperationContext, domainId: string): Promise<DeletedDomain> {
  const { workspaceId, bus } = context;
  const { name, dnsRecords } = await readDomain(context, domainId);
  const { addresses, wasVerified } = await asWorkspace(context.database, workspaceId, async (transaction) => {
    await holdWorkspace(transaction, workspaceId);
    if ((await changes.lockDomain(transaction, workspaceId, domainId)) === null) throw domainNotFound();
    const dependents = await changes.findSubdomains(transaction, workspaceId, name);
    if (dependents.length > 0) throw hasSubdomains(dependents);
    return changes.deleteDomain(transaction, workspaceId, { id: domainId, name });
  });
  for (const gone of [name, ...addresses]) bus.publish('routing.changed', { name: gone });
  return { name, addressCount: addresses.length, recordCount: dnsRecords.length, wasVerified };
}

function hasSubdomains(dependentSubdomains: changes.Subdomain[]): UserError {
  return new UserError('conflict', 'Delete the subdomains of this domain first', {
    reason: 'DOMAIN_HAS_DEPENDENT_SUBDOMAINS',
    members: { dependentSubdomains },
    isFinal: true,
  });
}
