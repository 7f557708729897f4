import { type ExecutionResult, GraphQLError } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';

/** What subscriptions are sent as, in messages. */
const ACCEPTED = '`text/event-stream` or `multipart/mixed; subscriptionSpec="1.0"`';
const BOUNDARY = 'graphql';
/** Interval of empty parts that keep proxies from closing an idle connection. Milliseconds. */
const HEARTBEAT_MS = 12_000;

/** The content type of subscriptions in Apollo's protocol. */
export const MULTIPART_TYPE = `multipart/mixed; boundary=${BOUNDARY}; subscriptionSpec="1.0"`;

/**
 * Sends subscriptions by Apollo's multipart protocol to clients that accept it
 * (https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol), and rejects subscriptions of clients that
 * accept no stream, before they are opened.
 */
export const multipartSubscriptions: Plugin<{ request: Request }> = {
  onSubscribe({ args: { contextValue }, setResultAndStopExecution }) {
    const accept = contextValue.request.headers.get('accept');
    if (!acceptsStream(accept))
      setResultAndStopExecution({ errors: [notAcceptable(`Subscriptions are sent as ${ACCEPTED}.`)] });
  },
  onResultProcess(processing) {
    const { request, result } = processing;
    if (!isAsyncIterable(result) || !acceptsParts(request.headers.get('accept'))) return;
    processing.setResultProcessor((stream) => sendParts(stream as AsyncIterable<ExecutionResult>), MULTIPART_TYPE);
  },
};

/** Returns the body of a response of status 406, which says what is accepted. */
export function notAcceptableBody(): string {
  const message = `The response cannot be sent as what \`Accept\` allows. Queries and mutations are sent as \`application/graphql-response+json\` or \`application/json\`, subscriptions as ${ACCEPTED}.`;
  return JSON.stringify(publicResult({ errors: [notAcceptable(message)] }));
}

function notAcceptable(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'not_acceptable', statusCode: 406, http: { status: 406 } } });
}

function acceptsStream(accept: string | null): boolean {
  return (
    acceptsParts(accept) || mediaTypes(accept).some(({ type }) => /^(?:\*|text)\/\*$|^text\/event-stream$/.test(type))
  );
}

/** Returns whether a client accepts subscriptions in parts. */
function acceptsParts(accept: string | null): boolean {
  return mediaTypes(accept).some(
    ({ type, parameters }) =>
      type === 'multipart/mixed' && parameters.some((each) => /^subscriptionspec="?1\.0"?$/.test(each)),
  );
}

function mediaTypes(accept: string | null): { type: string; parameters: string[] }[] {
  return (accept ?? '*/*')
    .toLowerCase()
    .split(',')
    .map((each) => {
      const [type = '', ...parameters] = each.split(';').map((part) => part.trim());
      return { type, parameters };
    });
}

/** Returns the result without what is meant for the HTTP response. */
function publicResult({ errors, ...result }: ExecutionResult): object {
  if (errors === undefined) return result;
  return {
    ...result,
    errors: errors.map((error) => {
      const { http: _http, ...extensions } = error.extensions as Record<string, unknown>;
      return { ...error.toJSON(), extensions };
    }),
  };
}

/** Begins with an empty part, so that the client knows that the subscription is open. Each part ends with the delimiter of the next one. */
function sendParts(results: AsyncIterable<ExecutionResult>): Response {
  const iterator = results[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let heartbeat: NodeJS.Timeout | undefined;
  const part = (value: object) =>
    encoder.encode(`\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(value)}\r\n--${BOUNDARY}`);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(`--${BOUNDARY}`));
      controller.enqueue(part({}));
      heartbeat = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(part({}));
      }, HEARTBEAT_MS);
    },
    async pull(controller) {
      const next = await iterator.next();
      if (next.done !== true) {
        controller.enqueue(part({ payload: publicResult(next.value) }));
        return;
      }
      clearInterval(heartbeat);
      controller.enqueue(encoder.encode('--\r\n'));
      controller.close();
    },
    async cancel() {
      clearInterval(heartbeat);
      await iterator.return?.();
    },
  });
  return new Response(body, {
    headers: { 'content-type': MULTIPART_TYPE, 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' },
  });
}
