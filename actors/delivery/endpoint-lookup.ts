import type { ClientBase, Pool } from 'pg';
import type { Logger } from 'pino';
import type { Scope } from '../../core/accounts/key-rights.ts';
import { readWebhookConfig, type WebhookConfig } from '../../core/endpoints/endpoint-config.ts';
import type { EventFilter } from '../../core/endpoints/endpoint-events.ts';
import type { PayloadQuery } from '../../core/endpoints/payload-query.ts';
import { decodeSigningSecrets, type SigningSecret } from '../../core/endpoints/webhook-signature.ts';
import { webhookTarget } from '../../core/endpoints/webhook-url.ts';
import { decryptSecret } from '../../core/shared/secret-box.ts';
import { createSizedCache } from '../../core/shared/sized-cache.ts';
import { type EndpointFactsRow, readEndpointsSql } from '../../db/queries/routing/delivery-route.ts';

/** The facts of an endpoint that routing and attempts need. */
export interface DeliveryEndpoint {
  id: string;
  name: string;
  type: EndpointFactsRow['type'];
  /** of webhooks: how the body of a request is written */
  webhookFormat: EndpointFactsRow['webhook_format'];
  isActive: boolean;
  /** see core/endpoints/endpoint-events.ts */
  events: readonly string[];
  filter: EventFilter | null;
  /** a query for the payload, with the filter that limits what it reads; null: the default payload */
  payloadQuery: PayloadQuery | null;
  /** which deliveries wait for earlier ones */
  ordering: EndpointFactsRow['ordering'];
  /** whether the responses of this webhook may hold actions */
  allowsActions: boolean;
  /** the API key that set it up, and what it may do: the scopes of that key, then and now; null: a person, and everything */
  setByKeyId: string | null;
  grantedScopes: readonly Scope[] | null;
  /** null when it is no webhook, or its stored configuration cannot be used */
  webhook: WebhookFacts | null;
}

export interface WebhookFacts {
  config: WebhookConfig;
  origin: string;
  path: string;
  /** empty when it has none */
  secrets: SigningSecret[];
}

interface EndpointKey {
  workspaceId: string;
  endpointId: string;
}

/** Returns an endpoint; undefined when that user has none with that id. */
export type FindEndpoint = (key: EndpointKey) => DeliveryEndpoint | undefined;

/** An endpoint with its current version, which was read at `readAt` (performance.now()). */
export interface EndpointVersion extends EndpointKey {
  version: string;
  readAt: number;
}

/** Endpoints by user and id, cached for a second, and longer while their version stays the same. */
export interface EndpointLookup {
  /** Reads these endpoints on that connection; those whose current version is known and cached are not read again. */
  read(
    client: ClientBase | Pool,
    keys: readonly EndpointKey[],
    versions?: readonly EndpointVersion[],
  ): Promise<FindEndpoint>;
  /** Returns the cached endpoint, at most a second old; undefined when it must be read. */
  known(key: EndpointKey): DeliveryEndpoint | undefined;
  /** Returns the endpoint, at most a second old. Endpoints that are requested together are read together. */
  recent(key: EndpointKey): Promise<DeliveryEndpoint | undefined>;
  /** Notes that these are the current versions: cached endpoints that have them stay cached. */
  confirm(versions: readonly EndpointVersion[]): void;
  /** Removes these endpoints from the cache. */
  forget(keys: readonly EndpointKey[]): void;
}

interface Remembered {
  key: EndpointKey;
  endpoint: DeliveryEndpoint;
  version: string;
  /** when it was read, or its version was compared */
  readAt: number;
  /** since it was read */
  isUsed: boolean;
}

/** How long an endpoint is cached; milliseconds. */
const MAX_AGE_MS = 1_000;
/** Size of all cached endpoints. Bytes, about. @limit */
export const MAX_ENDPOINTS = 20_000_000;

export function createEndpointLookup(options: { pool: Pool; secretKey: Uint8Array; log: Logger }): EndpointLookup {
  const remembered = createSizedCache<Remembered>({
    maxSize: MAX_ENDPOINTS,
    size: ({ endpoint }) => JSON.stringify(endpoint).length,
  });

  const readInto = async (
    found: Map<string, DeliveryEndpoint>,
    client: ClientBase | Pool,
    keys: Iterable<EndpointKey>,
  ) => {
    const distinct = [...new Map([...keys].map((key) => [keyText(key), key])).values()];
    if (distinct.length === 0) return;
    // Taken before the query: the result is at least this old.
    const readAt = performance.now();
    const { rows } = await client.query<EndpointFactsRow>({
      name: 'delivery-read-endpoints',
      text: readEndpointsSql,
      values: [distinct.map((key) => key.workspaceId), distinct.map((key) => key.endpointId)],
    });
    for (const row of rows) {
      const endpoint = toEndpoint(row, options);
      const { version } = row;
      const key = keyText({ workspaceId: row.workspace_id, endpointId: row.id });
      found.set(key, endpoint);
      remembered.set(key, {
        key: { workspaceId: row.workspace_id, endpointId: row.id },
        endpoint,
        version,
        readAt,
        isUsed: false,
      });
    }
  };

  let asked: { keys: EndpointKey[]; found: Promise<FindEndpoint> | undefined } | null = null;
  const readAsked = async () => {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    const keys = asked?.keys ?? [];
    asked = null;
    // Endpoints in use that are about to expire are read in the same statement.
    const soon = performance.now() - MAX_AGE_MS / 2;
    for (const { key, readAt, isUsed } of remembered.values()) if (isUsed && readAt < soon) keys.push(key);
    return read(options.pool, keys);
  };

  const read = async (
    client: ClientBase | Pool,
    keys: readonly EndpointKey[],
    versions: readonly EndpointVersion[] = [],
  ): Promise<FindEndpoint> => {
    const found = new Map<string, DeliveryEndpoint>();
    for (const { version, readAt, ...key } of versions) {
      const known = remembered.get(keyText(key));
      if (known?.version !== version) continue;
      known.readAt = Math.max(known.readAt, readAt);
      found.set(keyText(key), known.endpoint);
    }
    await readInto(
      found,
      client,
      keys.filter((key) => !found.has(keyText(key))),
    );
    return (key) => found.get(keyText(key));
  };

  const findKnown = (key: EndpointKey) => {
    const known = remembered.get(keyText(key));
    if (known === undefined || known.readAt < performance.now() - MAX_AGE_MS) return undefined;
    known.isUsed = true;
    return known.endpoint;
  };

  return {
    read,
    known: findKnown,
    async recent(key) {
      const known = findKnown(key);
      if (known !== undefined) return known;
      asked ??= { keys: [], found: undefined };
      asked.keys.push(key);
      asked.found ??= readAsked();
      return (await asked.found)(key);
    },
    confirm(versions) {
      for (const { version, readAt, ...key } of versions) {
        const known = remembered.get(keyText(key));
        if (known?.version === version) known.readAt = Math.max(known.readAt, readAt);
      }
    },
    forget(keys) {
      for (const key of keys) remembered.delete(keyText(key));
    },
  };
}

function keyText({ workspaceId, endpointId }: EndpointKey): string {
  return `${workspaceId} ${endpointId}`;
}

function toEndpoint(row: EndpointFactsRow, options: { secretKey: Uint8Array; log: Logger }): DeliveryEndpoint {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    webhookFormat: row.webhook_format,
    isActive: row.is_active,
    events: row.events,
    filter: row.filter,
    payloadQuery: row.payload_query === null ? null : { query: row.payload_query, filter: row.filter },
    ordering: row.ordering,
    allowsActions: row.allow_actions,
    setByKeyId: row.set_by_key_id,
    grantedScopes: row.granted_scopes,
    webhook: row.type === 'webhook' ? webhookFacts(row, options) : null,
  };
}

function webhookFacts(
  row: EndpointFactsRow,
  { secretKey, log }: { secretKey: Uint8Array; log: Logger },
): WebhookFacts | null {
  try {
    const config = readWebhookConfig(row.config);
    const { origin, path } = webhookTarget(config.url);
    const secrets =
      row.secret_ciphertext === null
        ? []
        : decodeSigningSecrets(decryptSecret(secretKey, 'webhook-secret', row.secret_ciphertext));
    return { config, origin, path, secrets };
  } catch (error) {
    log.error({ err: error, endpointId: row.id }, 'delivery: endpoint configuration cannot be used');
    return null;
  }
}
