import type { FastifyInstance } from 'fastify';
import { loadOnce } from '../../core/shared/load-once.ts';
import { access, requireDeclaredAccess } from '../admission/access.ts';
import { type Admission, admitRequests } from '../admission/admission.ts';
import { limitBodiesInFlight } from '../admission/bodies-in-flight.ts';
import { allowAnyOrigin } from '../admission/cross-origin.ts';
import { takeJsonText } from '../http/requests.ts';
import type { ContextOf } from '../operation-context.ts';
import { MAIL_BODY_LIMIT } from '../rest/sending/outgoing-shapes.ts';
import { explorerRoutes, isExplorerPage, sendExplorer } from './explorer.ts';
import { readSampleOperations } from './sample-operations.ts';

export interface GraphqlOptions {
  admission: Admission;
  contextOf: ContextOf;
  publicUrl: string;
  /** time limit of an operation that does not extend it; milliseconds */
  respondWithinMs: number;
}

/** Time limit of the longest operation, an endpoint test. Milliseconds. */
const MAX_RESPONSE_MS = 130_000;

/**
 * The plugin of the GraphQL API at `/graphql`, which serves the explorer to browsers. Bodies are JSON; the explorer page needs no key. The
 * first request loads the schema, which takes a third of a second and 30 MB, so that a service without GraphQL clients starts without it.
 */
export async function graphqlInterface(
  app: FastifyInstance,
  { admission, contextOf, publicUrl, respondWithinMs }: GraphqlOptions,
): Promise<void> {
  const samples = readSampleOperations();
  const server = loadOnce(async () => (await import('./yoga.ts')).createGraphqlServer(samples));

  // Fastify reads the body, so that its limits apply, and passes it to Yoga as text.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, takeJsonText);
  app.setErrorHandler(async (error, request, reply) =>
    (await import('./errors.ts')).sendGraphqlError(error, request, reply),
  );
  explorerRoutes(app, samples);
  await app.register(
    async (admitted) => {
      // For pages with a browser token. Sessions are accepted from pages of this gateway alone.
      await allowAnyOrigin(admitted);
      requireDeclaredAccess(admitted);
      admitRequests(admitted, async (request, reply) =>
        isExplorerPage(request) ? undefined : admission.admit(request, reply),
      );
      limitBodiesInFlight(admitted, admission.bodiesInFlight);
      admitted.route({
        url: '',
        method: ['GET', 'POST'],
        schema: { hide: true },
        // Long operations extend their own deadline (GraphContext.respondWithin).
        config: { access: access.byDocument, respondWithinMs: MAX_RESPONSE_MS },
        // For requests with attachments; document-limits.ts limits all others.
        bodyLimit: MAIL_BODY_LIMIT,
        handler: async (request, reply) => {
          if (isExplorerPage(request)) return sendExplorer(reply);
          const respond = await server();
          return respond({ request, reply }, { operations: contextOf(request), publicUrl, respondWithinMs });
        },
      });
    },
    { prefix: '/graphql' },
  );
}
