import { LRUCache } from 'lru-cache';
import { type OpenDispatcher, requestChecked } from '../../actors/network/checked-request.ts';
import {
  COMMAND_LINE_CLIENT,
  isDocumentId,
  type OauthClient,
  plainName,
  readClientDocument,
  readClientMetadata,
  redirectHost,
} from '../../core/accounts/oauth-client.ts';
import type { Database } from '../../db/connection/database.ts';
import { findRegisteredClient, registerClient } from '../../db/queries/accounts/oauth.ts';
import { OauthRefusal } from './oauth-refusal.ts';

/** The clients that may ask people for access. */
export interface OauthClients {
  /** Returns a client, or why it cannot be used, as the end of a sentence about its ID. */
  find(id: string): Promise<OauthClient | { flaw: string }>;
  /** Stores a client that registers itself. Throws OauthRefusal. */
  register(metadata: unknown): Promise<OauthClient>;
}

export interface OauthClientOptions {
  /** role postroom_auth */
  database: Database;
  openDispatcher: OpenDispatcher;
  random: (bytes: number) => Uint8Array;
  /** clients that may be registered */
  most: number;
}

/** Clients that may be registered. */
export const MAX_OAUTH_CLIENTS = 5_000;
/** A registered client without a grant can be removed after this time, to make room. Seconds. */
const KEEP_SECONDS = 3_600;
const CLIENT_ID_BYTES = 16;
/** A metadata document has a few hundred bytes. @limit */
const MAX_DOCUMENT_BYTES = 16_384;
const DOCUMENT_TIMEOUT_MS = 5_000;
/** Documents that are kept, and how long: a sign-in reads its document three times. @limit */
const MAX_DOCUMENTS = 500;
const DOCUMENT_AGE_MS = 300_000;

export function openOauthClients({ database, openDispatcher, random, most }: OauthClientOptions): OauthClients {
  const documents = new LRUCache<string, Promise<OauthClient | { flaw: string }>>({
    max: MAX_DOCUMENTS,
    ttl: DOCUMENT_AGE_MS,
  });
  return {
    async find(id) {
      if (id === COMMAND_LINE_CLIENT.id) return COMMAND_LINE_CLIENT;
      if (isDocumentId(id)) {
        const known = documents.get(id);
        if (known !== undefined) return known;
        const fetched = fetchDocument(openDispatcher, id);
        documents.set(id, fetched);
        // The next sign-in tries again.
        if ('flaw' in (await fetched)) documents.delete(id);
        return fetched;
      }
      const client = /^pr_client_[A-Za-z0-9_-]{22}$/.test(id) ? await findRegisteredClient(database, id) : null;
      return client === null
        ? { flaw: 'is not registered here. Remove the connection in your program and connect again' }
        : { ...client, verifiedHost: null };
    },

    async register(given) {
      const read = readClientMetadata(given);
      if ('flaw' in read)
        throw new OauthRefusal(read.isRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata', read.flaw);
      const { redirect_uris: redirectUris, client_name: name = '' } = read.metadata;
      const id = `pr_client_${Buffer.from(random(CLIENT_ID_BYTES)).toString('base64url')}`;
      const client = { id, name: plainName(name) ?? redirectHost(redirectUris[0] ?? ''), redirectUris };
      if (!(await registerClient(database, client, { most, keepSeconds: KEEP_SECONDS })))
        throw new OauthRefusal(
          'temporarily_unavailable',
          'Too many clients were registered lately. Try again in an hour.',
          503,
        );
      return { ...client, verifiedHost: null };
    },
  };
}

/** Reads a client ID metadata document. What the host responds beside a valid document stays unknown to who asks. */
async function fetchDocument(openDispatcher: OpenDispatcher, id: string): Promise<OauthClient | { flaw: string }> {
  const response = await requestChecked(openDispatcher, {
    url: id,
    method: 'GET',
    headers: { accept: 'application/json' },
    timeoutMs: DOCUMENT_TIMEOUT_MS,
    maxBytes: MAX_DOCUMENT_BYTES,
  });
  if (response.kind === 'no-response' || response.statusCode !== 200)
    return { flaw: 'is the URL of a document that could not be read' };
  const read = readClientDocument(id, response.body);
  return 'flaw' in read ? { flaw: `is the URL of a document that ${read.flaw}` } : read;
}
