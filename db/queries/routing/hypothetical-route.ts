import { sql, type Transaction } from 'kysely';
import { type RouteFacts } from '../../../core/routing/decide-route.ts';
import type { Tables } from '../../entities/tables.ts';
import { concernsDomain } from '../domains/dmarc-write.ts';
import { GRANTED_CATCH_ALL, GRANTED_ENDPOINTS_OF_ADDRESS } from './granted-route.ts';

/** Where an email would arrive. */
export interface HypotheticalTarget {
  ownAddress: string;
  addressId: string | null;
  domainId: string;
  /** of a DMARC report: the domain of its policy */
  dmarcDomain: string | null;
}

/** Returns the current route of an address or domain of the workspace, for mail that is not stored. */
export async function readHypotheticalRoute(
  transaction: Transaction<Tables>,
  workspaceId: string,
  place: HypotheticalTarget,
): Promise<RouteFacts> {
  const [facts] = await readHypotheticalRoutes(transaction, workspaceId, [place]);
  if (facts === undefined) throw new Error('a route was not read');
  return facts;
}

/** Returns the current route of each address or domain of the workspace, for mail that is not stored. */
export async function readHypotheticalRoutes(
  transaction: Transaction<Tables>,
  workspaceId: string,
  places: readonly HypotheticalTarget[],
): Promise<RouteFacts[]> {
  const { rows } = await sql<Row>`
    select p."ownAddress", a.is_active as address_is_active, ${sql.raw(GRANTED_ENDPOINTS_OF_ADDRESS)},
      d.is_catch_all_enabled, ${sql.raw(GRANTED_CATCH_ALL)}, d.receive_dmarc_emails,
      p.domain is not null and exists (
        select from domain o where o.workspace_id = ${workspaceId} and o.status = 'verified'
          and ${sql.raw(concernsDomain('o.name', 'p.domain'))}) as is_dmarc_report
    from rows from (jsonb_to_recordset(${JSON.stringify(
      places.map(({ dmarcDomain: domain, ...place }) => ({ ...place, domain })),
    )}::jsonb) as ("ownAddress" text, "addressId" text, "domainId" text, domain text)) with ordinality
      as p("ownAddress", "addressId", "domainId", domain, place)
    left join email_address a on a.workspace_id = ${workspaceId} and a.id = p."addressId"
    left join domain d on d.workspace_id = ${workspaceId} and d.id = p."domainId"
    order by p.place`.execute(transaction);
  return rows.map((row) => ({
    ownAddress: row.ownAddress,
    isDmarcReport: row.is_dmarc_report,
    address:
      row.address_is_active === null
        ? null
        : { isActive: row.address_is_active, endpointId: row.endpoint_id, webhookId: row.webhook_id },
    domain:
      row.is_catch_all_enabled === null
        ? null
        : {
            isCatchAllEnabled: row.is_catch_all_enabled,
            catchAllEndpointId: row.catch_all_endpoint_id,
            receivesDmarcEmails: row.receive_dmarc_emails === true,
          },
  }));
}

interface Row {
  ownAddress: string;
  address_is_active: boolean | null;
  endpoint_id: string | null;
  webhook_id: string | null;
  is_catch_all_enabled: boolean | null;
  catch_all_endpoint_id: string | null;
  receive_dmarc_emails: boolean | null;
  is_dmarc_report: boolean;
}
