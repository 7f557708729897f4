import { deriveDownloadLinkKey } from '../../core/endpoints/download-link.ts';
import { MAX_PAYLOAD_LIMIT_BYTES, MIN_PAYLOAD_LIMIT_BYTES } from '../../core/endpoints/endpoint-config.ts';
import { linkTo } from '../../core/endpoints/payload-facts.ts';
import {
  laySelectedPayloadOut,
  type PayloadQuery,
  type PayloadQueryError,
} from '../../core/endpoints/payload-query.ts';
import { decodeEventCursor } from '../../core/events/event-cursor.ts';
import { freeTexts, hasLargeText } from '../../core/shared/large-text.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { type FeedEvent, findEvents } from '../../db/queries/events/event-list.ts';
import { invalid, type OperationContext } from '../context.ts';
import { buildInTurns, loadInTurns } from './build-in-turns.ts';
import { readFilter, type SubscriptionInput } from './endpoint-subscription.ts';
import { findLinkHolder } from './payload-queries.ts';

export interface PreviewInput {
  query: string;
  filter: NonNullable<SubscriptionInput['filter']> | null;
  /** cursor of a stored event */
  cursor: string;
  maxPayloadOctets: number;
}

/** What an endpoint with a payload query would be posted. */
export interface PayloadPreview {
  /** the result of the query, of which texts of megabytes are each a LargeText; null when it does not fit */
  data: unknown;
  /** paths in `data` of texts that links replace */
  truncated: string[];
  /** bytes of the body, with a short name of the endpoint */
  sizeBytes: number;
  /** errors of the query, or of single fields */
  errors: PayloadQueryError[];
}

/** Runs a payload query for a stored event, as a delivery does. Throws validation, unavailable. */
export async function previewPayload(
  context: OperationContext,
  { query, filter: given, cursor, maxPayloadOctets }: PreviewInput,
): Promise<PayloadPreview> {
  const { database, workspaceId } = context;
  if (maxPayloadOctets < MIN_PAYLOAD_LIMIT_BYTES || maxPayloadOctets > MAX_PAYLOAD_LIMIT_BYTES)
    throw invalid(
      `maxPayloadOctets must be ${MIN_PAYLOAD_LIMIT_BYTES} to ${MAX_PAYLOAD_LIMIT_BYTES}`,
      'maxPayloadOctets',
    );
  const seq = decodeEventCursor(workspaceId, cursor);
  const { filter, event } = await asWorkspace(database, workspaceId, async (transaction) => ({
    filter: await readFilter(transaction, workspaceId, given),
    event: seq === null ? undefined : (await findEvents(transaction, workspaceId, [seq]))[0],
  }));
  if (event === undefined) throw invalid('`cursor` is not the cursor of a stored event.', 'cursor');
  return loadInTurns(workspaceId, () => preview(context, { query, filter }, event, maxPayloadOctets));
}

async function preview(
  context: OperationContext,
  payloadQuery: PayloadQuery,
  event: FeedEvent,
  maxPayloadOctets: number,
): Promise<PayloadPreview> {
  const { workspaceId, settings, payloadQueries } = context;
  const timestamp = context.now();
  const endpoint = { id: 'ep_preview', name: 'Preview', type: 'webhook' };
  const linkHolder = findLinkHolder(context, endpoint.id);
  const links = { from: timestamp, holder: linkHolder };
  const selected = await payloadQueries.select(context, payloadQuery, event, links);
  if (selected === null)
    return { data: null, truncated: [], sizeBytes: 0, errors: [...(await payloadQueries.check(payloadQuery))] };
  const linkKey = deriveDownloadLinkKey(settings.secretKey);
  const { publicUrl } = settings;
  const facts = {
    selected,
    timestamp,
    endpoint,
    maxPayloadOctets,
    rawLinkOf: (id: string) => linkTo({ publicUrl, linkKey, linkHolder, workspaceId, email: { id }, timestamp }, 'raw'),
  };
  const { data, truncated, sizeBytes } = await buildInTurns(
    workspaceId,
    laySelectedPayloadOut(facts),
    context.caller.gone,
  );
  // Texts that became links are not sent, and so not given back after that.
  if (truncated.length > 0 && !hasLargeText(data)) freeTexts(selected.data);
  const errors = selected.errors.map(({ message, path }) => ({
    message: `${path}: ${message}`,
    line: null,
    column: null,
  }));
  return { data, truncated, sizeBytes, errors };
}
