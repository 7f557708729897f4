import { requireRights } from '../../core/accounts/rights.ts';
import { checkWebhookUrl } from '../../core/endpoints/webhook-url.ts';
import {
  EVENT_KINDS,
  findAuditAction,
  isAuditKind,
  isEventKind,
  type PostedKind,
} from '../../core/events/event-kinds.ts';
import { UserError } from '../../core/shared/errors.ts';
import { inWorkspaceTransaction } from '../../db/connection/transaction.ts';
import { readPolicy } from '../../db/queries/sending/outgoing-policy.ts';
import { BusTimeout, BusUnavailable, questions, type Reply, type Request } from '../../schema/messages.ts';
import { countAttempt } from '../accounts/count-attempts.ts';
import { invalid, type OperationContext } from '../context.ts';
import { limitRefusal } from '../sending/sending-policy.ts';
import { type Endpoint, endpointNotFound, invalidConfiguration, loadEndpoints } from './endpoints.ts';

export interface EndpointTestInput {
  /** null: the endpoint's own format */
  webhookFormat: Endpoint['webhookFormat'] | null;
  /** of a webhook: used instead of its own URL; null: its own */
  overrideUrl: string | null;
  /** of a webhook: the kind of event to post; null: a received email */
  event: string | null;
}

/** The result of a test. */
export type EndpointTestOutcome = Extract<Reply<'delivery.endpoint.test'>, { verdict: 'tested' }>;

/** Time limit of a request with this result; milliseconds. */
export const TEST_RESPONSE_MS = questions['delivery.endpoint.test'].limitMs + 2_000;

/** Tests per user and minute, across all gateways. */
export const MAX_TESTS = 30;
/** Time reserved at the end of the request for the response. Milliseconds. */
const RESERVE_MS = 1_000;
const LOCK_TIMEOUT_MS = 1_000;
/** Characters of the receiver's response that are shown. */
const MAX_RESPONSE_LENGTH = 1_000;

/**
 * Sends a sample to the endpoint with the code that delivers mail. Throws validation, not_found, rate_limited,
 * unavailable.
 */
export async function testEndpoint(
  context: OperationContext,
  endpointId: string,
  input: EndpointTestInput,
): Promise<EndpointTestOutcome> {
  const { workspaceId, settings } = context;
  const [endpoint] = await loadEndpoints(context, [endpointId]);
  if (endpoint == null) throw endpointNotFound();
  if (input.overrideUrl !== null) {
    if (endpoint.type !== 'webhook') throw invalid('Only webhooks can be tested with another URL', 'overrideUrl');
    const details = checkWebhookUrl(input.overrideUrl, settings.guard);
    if (details !== null) throw invalidConfiguration(details, 'overrideUrl');
  }
  const kind = readKind(endpoint, input.event);
  if (kind !== null && isAuditKind(kind)) requireRights(context.rights, 'Posting an entry of the audit log', ['audit']);
  if (!endpoint.isActive) throw disabled();
  await countAttempt(context, { kind: 'endpoint-test', limit: MAX_TESTS, what: 'Endpoint tests' });
  if (endpoint.type !== 'webhook') await checkSendingLimit(context);
  const { webhookFormat, overrideUrl } = input;
  const event = kind === null ? null : await readSample(context, { endpointId, kind, webhookFormat });
  const outcome = await ask(context, { workspaceId, endpointId, webhookFormat, overrideUrl, event });
  if (outcome.verdict === 'tested')
    return { ...outcome, responseBody: outcome.responseBody?.slice(0, MAX_RESPONSE_LENGTH) ?? null };
  if (outcome.reason === 'not-found') throw endpointNotFound();
  throw invalidConfiguration(outcome.details, '');
}

/** Returns the kind of event to post; null for a received email. Throws validation. */
function readKind({ type }: Pick<Endpoint, 'type'>, event: string | null): PostedKind | null {
  if (event === null) return null;
  if (!isEventKind(event) && (!isAuditKind(event) || findAuditAction(event) === null))
    throw invalid(`Kinds are: ${Object.keys(EVENT_KINDS).join(', ')}, and those of the audit log`, 'event');
  if (event === 'email.received') return null;
  if (type !== 'webhook') throw invalid('Only webhooks are posted events', 'event');
  return event;
}

async function readSample(
  context: OperationContext,
  sample: Parameters<OperationContext['buildSamplePayload']>[1],
): Promise<{ kind: string; body: string }> {
  const built = await context.buildSamplePayload(context, sample);
  if (built.verdict === 'gone') throw endpointNotFound();
  return { kind: built.kind, body: built.body.toString('utf8') };
}

async function ask(
  { bus, respondBy, log }: OperationContext,
  question: Request<'delivery.endpoint.test'>,
): Promise<Reply<'delivery.endpoint.test'>> {
  const limitMs = Math.min(questions['delivery.endpoint.test'].limitMs, respondBy - performance.now() - RESERVE_MS);
  try {
    return await bus.ask('delivery.endpoint.test', question, { limitMs });
  } catch (error) {
    if (!(error instanceof BusTimeout || error instanceof BusUnavailable)) throw error;
    log.warn({ err: error }, 'endpoints: no delivery actor responded to an endpoint test');
    throw new UserError('unavailable', 'Endpoints cannot be tested now', { cause: error });
  }
}

/** A forwarded sample is mail sent by the user and counts towards the sending limit. Throws rate_limited. */
async function checkSendingLimit({ database, workspaceId, settings }: OperationContext): Promise<void> {
  const limit = settings.sendLimitPerHour;
  if (limit === 0) return;
  const none = { domains: [], senders: [], requesters: [], recipients: [], idempotencyKeys: [] };
  const question = { ...none, hourly: { limit, asking: 1 } };
  const policy = await inWorkspaceTransaction(database, workspaceId, { lockTimeoutMs: LOCK_TIMEOUT_MS }, (client) =>
    readPolicy(client, workspaceId, question),
  );
  const refusal = limitRefusal(1, policy, { limit, asking: 1, going: 0 });
  if (refusal !== null) throw refusal;
}

/** This body has more members than other errors; it is part of the REST contract. */
function disabled(): UserError {
  const members = { success: false, responseTime: 0 };
  return new UserError('validation', 'Endpoint is disabled', { members, isOfState: true });
}
