import type { Logger } from 'pino';
import type { KeyRights } from '../../core/accounts/key-rights.ts';
import type { Database } from '../../db/connection/database.ts';
import type { OperationParts } from '../../operations/context.ts';
import type { SelectPayload } from '../../operations/endpoints/payload-queries.ts';
import type { Bus } from '../../schema/messages.ts';
import type { GatewayConfig } from '../gateway-config.ts';
import { operationSettings } from '../operation-context.ts';
import { createPayloadQueries } from './payload-query.ts';

export interface PayloadRunnerOptions {
  /** role postroom_gateway, so that row-level security shows only what the query may read */
  database: Database;
  bus: Bus;
  log: Logger;
  config: GatewayConfig;
  random: (bytes: number) => Uint8Array;
}

const READER: KeyRights = { keyId: null, scopes: ['read'], domain: null };

/** Runs payload queries outside of a gateway, for the delivery actor. They only read. */
export function createPayloadRunner({ database, bus, log, config, random }: PayloadRunnerOptions): SelectPayload {
  const payloadQueries = createPayloadQueries();
  const parts: OperationParts = {
    database,
    entities: { asUser: refuse },
    bus,
    events: { open: refuse, size: () => 0, close: () => Promise.resolve() },
    log,
    now: () => new Date(),
    random,
    settings: operationSettings(config),
    payloadQueries,
    forgetCredentials: () => undefined,
  };
  return (userId, query, subject, linksFrom) => {
    const caller = {
      via: null,
      gone: new AbortController().signal,
      isAllowed: async () => true,
      hangUp: () => undefined,
    };
    const context = { ...parts, userId, rights: READER, answerBy: Number.POSITIVE_INFINITY, caller };
    return payloadQueries.select(context, query, subject, linksFrom);
  };
}

function refuse(): never {
  throw new Error('A payload query only reads');
}
