import type { TestGateway } from '../servers/gateway.ts';
import { makeTwoDomains, type TwoDomains } from './two-domains.ts';

/** Kinds of IDs that belong to a domain as a whole, so that a key of single addresses sees none of them. */
const OF_DOMAIN = ['dom', 'rpl', 'dmr'];

/**
 * Makes an account with two addresses of one domain, and everything there is of each. `theirs` also has what belongs to the domain as a whole.
 */
export async function makeTwoInboxes(gateway: TestGateway): Promise<TwoDomains> {
  const two = await makeTwoDomains(gateway);
  const { mine, theirs, domain } = two;
  const { pool } = gateway.owner;
  const from = theirs.names[1] ?? '';
  const moved = `split_part(own_address, '@', 1) || '.other@' || $2`;
  const given = [from, domain.name];
  await pool.query(`update email set domain_id = $2 where domain_id is not null and own_domain = $1`, [
    from,
    domain.id,
  ]);
  for (const table of ['email', 'draft'])
    await pool.query(`update ${table} set own_address = ${moved}, own_domain = $2 where own_domain = $1`, given);
  await pool.query(
    `update email_counter set own_address = ${moved}, own_domain = $2 where own_domain = $1 and own_address <> '*'`,
    given,
  );
  await pool.query(
    `update reception set own_address = ${moved} where substring(own_address from '[^@]*$') = $1`,
    given,
  );
  const address = `${theirs.mailbox.address.split('@')[0]}.other@${domain.name}`;
  await pool.query('update email_address set address = $2, domain_id = $3 where address = $1', [
    theirs.mailbox.address,
    address,
    domain.id,
  ]);
  await pool.query('update email_address_name set address = $2 where address = $1', [theirs.mailbox.address, address]);
  for (const kind of OF_DOMAIN) {
    theirs.ids.set(kind, [...(theirs.ids.get(kind) ?? []), ...(mine.ids.get(kind) ?? [])]);
    mine.ids.delete(kind);
  }
  theirs.mailbox.address = address;
  theirs.names[0] = address;
  await two.changedTables();
  return two;
}
