import { sql } from 'kysely';
import { SYSTEM_USER_ID } from '../../../core/accounts/system-account.ts';
import { type Database } from '../../connection/database.ts';
import { asUser } from '../../connection/transaction.ts';

/**
 * Gives the service's own user the domain of its From address. The name is not taken from its owner (verified_domain_name is unchanged), it
 * receives no mail, and its DNS is not checked. Returns the id of the domain, which is the given one if the domain is new.
 */
export async function keepSystemDomain(database: Database, domain: { id: string; name: string }): Promise<string> {
  return asUser(database, SYSTEM_USER_ID, async (transaction) => {
    await sql`
      insert into domain (user_id, id, name, status, is_trusted, verified_at, check_due_at)
      values (${SYSTEM_USER_ID}, ${domain.id}, ${domain.name}, 'verified', true, now(), '9999-12-31')
      on conflict (user_id, name) do nothing`.execute(transaction);
    const { rows } = await sql<{ id: string }>`
      select id from domain where user_id = ${SYSTEM_USER_ID} and name = ${domain.name}`.execute(transaction);
    const [row] = rows;
    if (row === undefined) throw new Error('the domain of the service is gone');
    return row.id;
  });
}
