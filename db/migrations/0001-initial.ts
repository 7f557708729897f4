import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';
import { SEARCH_FUNCTIONS } from './digest.ts';

/**
 * The first schema, by feature: tables, policies and functions. What tables and columns are for is said by db/entities. Every table of a
 * user is keyed by `workspace_id` first and lies under row-level security, and so do the names that are unique on the whole service
 * (verified_domain_name, email_address_name). The other global tables are raw_message, secret_canary, clock, mta_sts_policy,
 * tls_report, tls_session_count and those of accounts.
 */
const PARTS = [
  'roles',
  'clock',
  'domains',
  'accounts',
  'workspaces',
  'sign-in',
  'emails',
  'threads',
  'routing',
  'endpoints',
  'sending',
  'search',
  'events',
  'upkeep',
  'screening',
  'taking',
  'audit',
  'grants',
  'customers',
  'oauth',
  'scim',
  'agents',
].map((feature) => new URL(`0001-initial/${feature}.sql`, import.meta.url));

export class InitialMigration extends Migration {
  override up(): void {
    for (const part of [...PARTS, SEARCH_FUNCTIONS]) this.addSql(readFileSync(part, 'utf8'));
  }
}
