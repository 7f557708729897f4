import type { Dispatcher } from 'undici';
import { makeSampleMessage, SAMPLE_SENDER } from '../../core/endpoints/sample-message.ts';
import { checkWebhookUrl, webhookTarget } from '../../core/endpoints/webhook-url.ts';
import { parseMessage } from '../../core/mime/parse-message.ts';
import { newIdentifier } from '../../core/shared/identifiers.ts';
import type { AddressGuard } from '../../core/shared/network-address.ts';
import type { DeliveryContentRow } from '../../db/queries/endpoints/delivery-body.ts';
import { findSampleRecipient } from '../../db/queries/endpoints/sample-recipient.ts';
import { readPayloadTexts } from '../../operations/emails/html-text.ts';
import type { Reply, Request } from '../../schema/messages.ts';
import type { ActorContext } from '../actor.ts';
import type { DeliveryEndpoint, EndpointLookup, WebhookFacts } from './endpoint-lookup.ts';
import {
  buildPayload,
  makeEventRequest,
  makeWebhookRequest,
  type OpenRequest,
  postWebhook,
  type WebhookRequest,
  type WebhookResponse,
} from './post-webhook.ts';
import { type ForwardTesterOptions, testForward } from './test-forward.ts';

export interface EndpointTesterOptions {
  context: ActorContext;
  endpoints: EndpointLookup;
  dispatcher: Dispatcher;
  guard: AddressGuard;
  publicUrl: string;
  /** see core/endpoints/download-link.ts */
  linkKey: Uint8Array;
  /** see ForwardTesterOptions */
  systemMailFrom: string;
  /** composes copies */
  threads: ForwardTesterOptions['threads'];
}

type TestRequest = Request<'delivery.endpoint.test'>;
type TestReply = Reply<'delivery.endpoint.test'>;
type Tested = Extract<TestReply, { verdict: 'tested' }>;

/** Sends samples to endpoints with the code that delivers real mail. Nothing is stored or counted. */
export interface EndpointTester {
  /** Also works for a disabled endpoint, so that it can be tested before it is enabled. */
  test(request: TestRequest): Promise<TestReply>;
  /** Ends every test in progress. */
  interrupt(): void;
}

/** Characters of a response body that are shown. */
const MAX_RESPONSE_CHARACTERS = 1_000;
/** Recipient of a sample for a user without an address (RFC 2606). */
const ANYONE = 'hello@example.com';

export function createEndpointTester(options: EndpointTesterOptions): EndpointTester {
  const { context, endpoints } = options;
  const forwarding = { context, threads: options.threads, systemMailFrom: options.systemMailFrom };
  const open = new Set<OpenRequest>();

  const testWebhook = async (request: TestRequest, tested: TestedWebhook): Promise<Tested> => {
    const { endpoint, webhook, url } = tested;
    const refusal = request.overrideUrl === null ? null : checkWebhookUrl(url, options.guard);
    if (refusal !== null)
      return { ...NOTHING_CAME, message: refusal, urlTested: url, webhookFormat: endpoint.webhookFormat };
    if (request.event !== null) {
      const { kind, body } = request.event;
      const sample = { kind, deliveryId: identifier('delivery'), body: Buffer.from(body) };
      return send(makeEventRequest({ endpoint, webhook, sentAt: context.now() }, sample), tested);
    }
    const recipient = await findSampleRecipient(context.database.pool, request);
    const { email, raw } = await makeSampleEmail(context, {
      workspaceId: request.workspaceId,
      recipient: recipient?.address ?? ANYONE,
    });
    const removed = await readPayloadTexts(email);
    const body = await buildPayload({
      job: { createdAt: email.created_at, threadId: identifier('thread'), threadPosition: 0 },
      endpoint,
      webhook,
      email,
      removed,
      raw,
      publicUrl: options.publicUrl,
      linkKey: options.linkKey,
    });
    const sentAt = context.now();
    const made = makeWebhookRequest({ endpoint, webhook, email, body, deliveryId: identifier('delivery'), sentAt });
    return send(made, tested);
  };

  const send = async (made: WebhookRequest, { endpoint, url }: TestedWebhook): Promise<Tested> => {
    const startedTick = performance.now();
    const marks = ['X-Test-Request', 'true', 'X-Webhook-Format', endpoint.webhookFormat];
    // Actions in the response of a test do not run: there is no email.
    const marked = { ...made, headers: [...made.headers, ...marks], allowsActions: false };
    const posted = postWebhook(options.dispatcher, marked, { leftBytes: 0 });
    open.add(posted);
    const response = await posted.response;
    open.delete(posted);
    return {
      ...NOTHING_CAME,
      ...toOutcome(response),
      responseTimeMs: Math.round(performance.now() - startedTick),
      urlTested: url,
      payload: made.body.toString('utf8'),
      webhookFormat: endpoint.webhookFormat,
    };
  };

  const identifier = (kind: 'delivery' | 'thread') => newIdentifier(context, kind);

  return {
    async test(request) {
      const find = await endpoints.read(context.database.pool, [request]);
      const endpoint = find(request);
      if (endpoint === undefined) return { verdict: 'refused', reason: 'not-found', details: 'Endpoint not found' };
      if (endpoint.type !== 'webhook')
        return { ...NOTHING_CAME, ...(await testForward(forwarding, { ...request, type: endpoint.type })) };
      if (endpoint.webhook === null)
        return { verdict: 'refused', reason: 'invalid', details: 'Endpoint configuration cannot be used' };
      return testWebhook(request, asTested(request, endpoint, endpoint.webhook));
    },
    interrupt() {
      for (const request of open) request.interrupt();
    },
  };
}

interface TestedWebhook {
  endpoint: DeliveryEndpoint;
  webhook: WebhookFacts;
  url: string;
}

/** The endpoint with the overrides of the question. */
function asTested(request: TestRequest, endpoint: DeliveryEndpoint, webhook: WebhookFacts): TestedWebhook {
  const { overrideUrl, webhookFormat } = request;
  const target = overrideUrl !== null && URL.canParse(overrideUrl) ? webhookTarget(overrideUrl) : webhook;
  return {
    endpoint: { ...endpoint, webhookFormat: webhookFormat ?? endpoint.webhookFormat },
    webhook: { ...webhook, origin: target.origin, path: target.path },
    url: overrideUrl ?? webhook.config.url,
  };
}

const NOTHING_CAME: Tested = {
  verdict: 'tested',
  success: false,
  message: '',
  responseTimeMs: 0,
  statusCode: null,
  responseBody: null,
  urlTested: null,
  payload: null,
  webhookFormat: null,
};

/** Texts of the REST interface. */
function toOutcome(response: WebhookResponse): Pick<Tested, 'success' | 'message' | 'statusCode' | 'responseBody'> {
  switch (response.kind) {
    case 'responded': {
      const { statusCode, body } = response;
      const success = statusCode >= 200 && statusCode < 300;
      const message = success
        ? `Webhook responded successfully (${statusCode})`
        : `Webhook returned error (${statusCode})`;
      return { success, message, statusCode, responseBody: body.slice(0, MAX_RESPONSE_CHARACTERS).toWellFormed() };
    }
    case 'unanswered':
      return { success: false, message: response.error, statusCode: null, responseBody: null };
    case 'interrupted':
      return { success: false, message: 'The test was interrupted; try again', statusCode: null, responseBody: null };
  }
}

/** A made-up received email, in the form in which deliveries read real ones. */
interface SampleEmail {
  email: DeliveryContentRow;
  raw: Buffer;
}

/** Creates an email to test an endpoint with, using the parser of real mail. Nothing is stored. */
async function makeSampleEmail(
  { now, random }: Pick<ActorContext, 'now' | 'random'>,
  { workspaceId, recipient }: { workspaceId: string; recipient: string },
): Promise<SampleEmail> {
  const sentAt = now();
  const id = newIdentifier({ now, random }, 'email', sentAt);
  const messageId = `<${id}@sample.postroom.invalid>`;
  const raw = makeSampleMessage({ recipient, sender: SAMPLE_SENDER, messageId, sentAt });
  const message = await parseMessage(raw);
  const email: DeliveryContentRow = {
    workspace_id: workspaceId,
    id,
    raw_id: null,
    message_id: message.messageId ?? messageId,
    subject: message.subject,
    recipient,
    own_address: recipient,
    created_at: sentAt,
    date: message.date,
    headers: [...message.headers],
    addresses: message.addresses,
    in_reply_to: [...message.inReplyTo],
    reference_ids: [...message.references],
    text_body: message.textBody,
    html_body: message.htmlBody,
    cleaned_text: message.cleanedText,
    cleaned_html: message.cleanedHtml,
    removed_parts: [...message.removedParts],
    attachments: [...message.attachments],
    authentication: null,
    injection: message.injection,
    screening: null,
    priority: message.priority,
    is_truncated: message.isTruncated,
    // Tests of endpoints are marked by their own header (X-Test-Request).
    is_test: false,
  };
  return { email, raw };
}
