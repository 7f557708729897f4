import { type RawBuilder, sql } from 'kysely';
import { canonicalAddress, canonicalDomainName } from '../../../core/domains/domain-name.ts';

/** Returns the name to compare with for a domain filter given by id or name; a value that is neither matches nothing. */
export function toDomainName(workspaceId: string, idOrName: string): RawBuilder<string> {
  if (idOrName.includes('.')) return sql`${canonicalDomainName(idOrName) ?? ''}::text`;
  return sql`coalesce((select d.name from domain d where d.workspace_id = ${workspaceId} and d.id = ${idOrName}), '')`;
}

/** Returns the address to compare with for an address filter given by id or address; a value that is neither matches nothing. */
export function toAddress(workspaceId: string, idOrAddress: string): RawBuilder<string> {
  if (idOrAddress.includes('@'))
    return sql`${canonicalAddress(idOrAddress)?.address ?? idOrAddress.trim().toLowerCase()}::text`;
  return sql`coalesce((select a.address from email_address a where a.workspace_id = ${workspaceId} and a.id = ${idOrAddress}), '')`;
}
