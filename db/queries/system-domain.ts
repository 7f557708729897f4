import { sql } from 'kysely';
import { SYSTEM_USER_ID } from '../../core/system-account.ts';
import { asUser, type Database } from '../database.ts';

/**
 * Gives the service's own user the domain that its mail is from. It takes the name from nobody (verified_domain_name is left alone), and
 * no mail comes in by it; nobody looks at its DNS.
 */
export async function keepSystemDomain(database: Database, domain: { id: string; name: string }): Promise<void> {
  await asUser(database, SYSTEM_USER_ID, (transaction) =>
    sql`
      insert into domain (user_id, id, name, status, is_trusted, verified_at, check_due_at)
      values (${SYSTEM_USER_ID}, ${domain.id}, ${domain.name}, 'verified', true, now(), '9999-12-31')
      on conflict (user_id, name) do nothing`.execute(transaction),
  );
}
