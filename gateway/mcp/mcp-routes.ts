import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UserError } from '../../core/shared/errors.ts';
import { loadOnce } from '../../core/shared/load-once.ts';
import { access, requireDeclaredAccess } from '../admission/access.ts';
import { type Admission, admitRequests } from '../admission/admission.ts';
import { limitBodiesInFlight } from '../admission/bodies-in-flight.ts';
import { isOwnHost } from '../admission/own-host.ts';
import { takeJsonText } from '../http/requests.ts';
import { MCP_PATH, RESOURCE_METADATA_PATH } from '../oauth/oauth-metadata.ts';
import type { ContextOf } from '../operation-context.ts';
import { MAIL_BODY_LIMIT } from '../rest/sending/outgoing-shapes.ts';

export interface McpOptions {
  admission: Admission;
  contextOf: ContextOf;
  publicUrl: string;
  /** time limit of a request that does not extend it; milliseconds */
  respondWithinMs: number;
}

/** Time limit of the longest request, one that waits for an email. Milliseconds. */
const MAX_RESPONSE_MS = 75_000;

/**
 * The plugin of the MCP server at `/mcp`: Streamable HTTP without sessions, so that any gateway responds to any request. The first request loads the
 * SDK and the tools.
 */
export async function mcpInterface(
  app: FastifyInstance,
  { admission, contextOf, publicUrl, respondWithinMs }: McpOptions,
): Promise<void> {
  const server = loadOnce(async () => (await import('./mcp-server.ts')).createMcpEndpoint());

  // Fastify reads the body, so that its limits apply, and passes it on as text.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, takeJsonText);
  await app.register(async (admitted) => {
    requireDeclaredAccess(admitted);
    admitted.addHook('onRequest', async (request) => requireOwnOrigin(request, publicUrl));
    admitted.addHook('onSend', async (request, reply) => {
      if (reply.statusCode === 401) reply.header('www-authenticate', readChallenge(request, publicUrl));
    });
    admitRequests(admitted, admission.admit);
    limitBodiesInFlight(admitted, admission.bodiesInFlight);
    admitted.route({
      url: MCP_PATH,
      method: 'POST',
      schema: { hide: true },
      config: { access: access.byDocument, respondWithinMs: MAX_RESPONSE_MS },
      // For emails with attachments.
      bodyLimit: MAIL_BODY_LIMIT,
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        const respond = await server();
        return respond({ request, reply }, { operations: contextOf(request), publicUrl, respondWithinMs });
      },
    });
  });
}

/**
 * Returns the challenge by which a client finds where to sign in (RFC 9728 §5.1, RFC 6750 §3). Clients ask for the scope that it names; the person
 * can allow more.
 */
function readChallenge({ headers }: FastifyRequest, publicUrl: string): string {
  const error = headers.authorization === undefined ? '' : ', error="invalid_token"';
  return `Bearer resource_metadata="${publicUrl}${RESOURCE_METADATA_PATH}${MCP_PATH}", scope="read"${error}`;
}

/**
 * Refuses a request from a page of another origin, as the specification of Streamable HTTP requires against DNS rebinding. Programs send no
 * Origin header.
 */
function requireOwnOrigin({ headers: { origin } }: FastifyRequest, publicUrl: string): void {
  if (origin === undefined) return;
  if (URL.canParse(origin) && isOwnHost(new URL(origin).host, publicUrl)) return;
  throw new UserError('forbidden', 'MCP does not accept requests from web pages of other origins.', {
    title: 'Forbidden',
  });
}
