import { createHash, randomBytes } from 'node:crypto';
import type { Scope } from '../../../core/accounts/key-rights.ts';
import type { SendPolicy } from '../../../core/sending/send-policy.ts';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { TestMailbox } from './routing-rows.ts';

export interface TestKey {
  id: string;
  /** what goes behind `Authorization: Bearer` */
  secret: string;
}

/** Inserts a key of the mailbox' account, straight into the table; `domain` and `addresses` limit it. The database's role must be that of the owner. */
export async function insertKey(
  owner: Database,
  mailbox: Pick<TestMailbox, 'workspaceId'>,
  rights: {
    scopes: readonly Scope[] | null;
    domain?: { id: string; name: string };
    addresses?: readonly string[];
    expiresAt?: Date;
    policy?: SendPolicy;
  },
): Promise<TestKey> {
  const secret = randomBytes(32).toString('base64url');
  const id = makeIdentifier('apiKey', new Date(), randomBytes(10));
  const sha256 = createHash('sha256').update(secret).digest();
  const { scopes, domain, addresses = [], expiresAt = null, policy = null } = rights;
  const domains = domain === undefined ? [] : [domain];
  const reach = domains.length + addresses.length === 0 ? null : { domains, addresses };
  await owner.pool.query(
    `insert into api_key (id, workspace_id, name, secret_sha256, scopes, reach, expires_at, send_policy)
     values ($1, $2, 'test', $3, $4, $5, $6, $7)`,
    [id, mailbox.workspaceId, sha256, scopes, reach, expiresAt, policy],
  );
  return { id, secret };
}
