import { createHash, randomBytes } from 'node:crypto';
import { type IdentifierKind, makeIdentifier } from '../../../core/shared/identifiers.ts';
import { encryptSecret, NONCE_BYTES } from '../../../core/shared/secret-box.ts';
import { type Database } from '../../../db/connection/database.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { TEST_DKIM_PRIVATE_KEY, TEST_DKIM_PUBLIC_KEY, TEST_DKIM_SELECTOR } from '../mail/dkim-test-key.ts';

export interface MailboxOptions {
  /** lower case */
  domain: string;
  /** the whole address, lower case */
  address: string;
  /** a webhook endpoint with this URL becomes the address' (and the catch-all's) endpoint */
  endpointUrl?: string;
  /** merged over the webhook's default config */
  endpointConfig?: Record<string, unknown>;
  /** use this account instead of a new one */
  workspaceId?: string;
  /** of the domain; default verified */
  domainStatus?: 'pending' | 'verified' | 'failed';
  /** whether the domain takes mail to unknown addresses; default false */
  isCatchAllEnabled?: boolean;
  /** of the address; default true */
  isActive?: boolean;
  /** gives the domain the key of dkim-test-key.ts, encrypted under this SECRET_KEY; default none */
  dkim?: { secretKey: Uint8Array };
}

export interface TestMailbox {
  workspaceId: string;
  domainId: string;
  addressId: string;
  address: string;
  endpointId: string | null;
  /** what goes behind `Authorization: Bearer` */
  apiKey: string;
}

/** Inserts a webhook whose responses run actions, with the rights of a key, or of a person, which are all. Returns its id. */
export async function insertActingEndpoint(
  owner: Database,
  { workspaceId }: Pick<TestMailbox, 'workspaceId'>,
  { keyId = null, scopes = null }: { keyId?: string | null; scopes?: readonly string[] | null } = {},
): Promise<string> {
  const id = identifier('endpoint');
  await owner.pool.query(
    `insert into endpoint (workspace_id, id, name, type, config, allow_actions, set_by_key_id, granted_scopes)
     values ($1, $2, 'x', 'webhook', '{"url": "https://hooks.example.com/"}', true, $3, $4)`,
    [workspaceId, id, keyId, scopes],
  );
  return id;
}

/**
 * Inserts an account with an API key, a domain, an address and an endpoint, straight into the tables, for tests.
 * A domain of that name that the user has already is used again. The database's role must be postroom_actor or the owner.
 */
export async function createMailbox(database: Database, options: MailboxOptions): Promise<TestMailbox> {
  const workspaceId = options.workspaceId ?? identifier('user');
  const apiKey = randomBytes(32).toString('base64url');
  return inTransaction(database, async (client) => {
    await client.query(`insert into person (id, email) values ($1, $2) on conflict do nothing`, [
      workspaceId,
      `${workspaceId}@account.test`,
    ]);
    await client.query(`insert into api_key (id, workspace_id, name, secret_sha256) values ($1, $2, 'test', $3)`, [
      identifier('apiKey'),
      workspaceId,
      createHash('sha256').update(apiKey).digest(),
    ]);

    let endpointId: string | null = null;
    if (options.endpointUrl !== undefined) {
      endpointId = identifier('endpoint');
      const config = {
        url: options.endpointUrl,
        timeout: 30,
        retryAttempts: 3,
        verificationToken: randomBytes(32).toString('hex'),
        ...options.endpointConfig,
      };
      await client.query(
        `insert into endpoint (workspace_id, id, name, type, config) values ($1, $2, 'test', 'webhook', $3)`,
        [workspaceId, endpointId, JSON.stringify(config)],
      );
    }

    const status = options.domainStatus ?? 'verified';
    const { rows } = await client.query<{ id: string }>(
      `insert into domain (workspace_id, id, name, status, is_trusted, verified_at, is_catch_all_enabled, catch_all_endpoint_id)
       values ($1, $2, $3, $4, true, case when $4 = 'verified' then now() end, $5, case when $5 then $6 end)
       on conflict (workspace_id, name) do update set
         is_catch_all_enabled = domain.is_catch_all_enabled or excluded.is_catch_all_enabled,
         catch_all_endpoint_id = coalesce(excluded.catch_all_endpoint_id, domain.catch_all_endpoint_id)
       returning id`,
      [workspaceId, identifier('domain'), options.domain, status, options.isCatchAllEnabled ?? false, endpointId],
    );
    const domainId = rows[0]?.id ?? '';
    if (status === 'verified') {
      await client.query(
        `insert into verified_domain_name (name, workspace_id, domain_id) values ($1, $2, $3) on conflict do nothing`,
        [options.domain, workspaceId, domainId],
      );
    }
    if (options.dkim !== undefined) {
      await client.query(
        `insert into dkim_key (workspace_id, domain_id, selector, private_key_ciphertext, public_key)
         values ($1, $2, $3, $4, $5) on conflict do nothing`,
        [
          workspaceId,
          domainId,
          TEST_DKIM_SELECTOR,
          encryptSecret(options.dkim.secretKey, 'dkim-key', TEST_DKIM_PRIVATE_KEY, randomBytes(NONCE_BYTES)),
          TEST_DKIM_PUBLIC_KEY,
        ],
      );
    }

    const addressId = identifier('emailAddress');
    await client.query(
      `insert into email_address (workspace_id, id, domain_id, address, endpoint_id, is_active) values ($1, $2, $3, $4, $5, $6)`,
      [workspaceId, addressId, domainId, options.address, endpointId, options.isActive ?? true],
    );
    await client.query(`insert into email_address_name (address, workspace_id, address_id) values ($1, $2, $3)`, [
      options.address,
      workspaceId,
      addressId,
    ]);
    return { workspaceId, domainId, addressId, address: options.address, endpointId, apiKey };
  });
}

function identifier(kind: IdentifierKind): string {
  return makeIdentifier(kind, new Date(), randomBytes(10));
}
