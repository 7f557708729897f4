import type { Logger } from 'pino';
import { READER_RIGHTS } from '../../core/accounts/key-rights.ts';
import type { Database } from '../../db/connection/database.ts';
import type { OperationContext, OperationParts } from '../../operations/context.ts';
import type { BuildEventPayload, SelectPayload } from '../../operations/endpoints/payload-queries.ts';
import { UNBOUNDED_ROOM } from '../../operations/response-room.ts';
import type { Bus } from '../../schema/messages.ts';
import type { GatewayConfig } from '../gateway-config.ts';
import { operationSettings } from '../operation-context.ts';
import { buildEventPayloads, buildSamplePayload } from '../webhooks/event-payload.ts';
import { pullRequests } from '../webhooks/pulled-requests.ts';
import { createPayloadQueries } from './payload-query.ts';

export interface PayloadRunnerOptions {
  /** role postroom_gateway, so that row-level security shows only what the query may read */
  database: Database;
  bus: Bus;
  log: Logger;
  config: GatewayConfig;
  random: (bytes: number) => Uint8Array;
}

export interface PayloadRunner {
  selectPayload: SelectPayload;
  buildEventPayload: BuildEventPayload;
}

/** Runs payload queries and shows the subjects of events outside of a gateway, for the delivery actor. They only read. */
export function createPayloadRunner({ database, bus, log, config, random }: PayloadRunnerOptions): PayloadRunner {
  const payloadQueries = createPayloadQueries();
  const parts: OperationParts = {
    database,
    entities: { asWorkspace: refuse },
    bus,
    events: { open: refuse, size: () => 0, close: () => Promise.resolve() },
    readStates: { announce: refuse, follow: refuse, close: () => undefined },
    presence: { announce: refuse, list: () => [], follow: refuse, close: () => undefined },
    log,
    now: () => new Date(),
    random,
    settings: operationSettings(config),
    payloadQueries,
    buildEventPayloads,
    buildSamplePayload,
    pullRequests,
    forgetCredentials: () => undefined,
    sendServiceMail: refuse,
    storeLoggedRequests: async () => undefined,
    storeAuditNotes: async () => undefined,
    noteRefusal: () => undefined,
  };
  const makeContext = (workspaceId: string): OperationContext => {
    const caller = {
      via: null,
      signedInAt: null,
      gone: new AbortController().signal,
      isAllowed: async () => true,
      hangUp: () => undefined,
    };
    return {
      ...parts,
      workspaceId,
      rights: READER_RIGHTS,
      respondBy: Number.POSITIVE_INFINITY,
      caller,
      room: UNBOUNDED_ROOM,
    };
  };
  return {
    selectPayload: (workspaceId, query, subject, links) =>
      payloadQueries.select(makeContext(workspaceId), query, subject, links),
    async buildEventPayload(workspaceId, deliveryId) {
      const [payload] = await buildEventPayloads(makeContext(workspaceId), [deliveryId]);
      return payload ?? { verdict: 'gone', reason: 'Delivery not found' };
    },
  };
}

function refuse(): never {
  throw new Error('A payload query only reads');
}
