import type { FastifyInstance } from 'fastify';
import { MTA_STS_PATH } from '../core/mta-sts.ts';
import type { OperationParts } from '../operations/context.ts';
import { readMtaStsPolicy } from '../operations/mta-sts.ts';

/** `https://mta-sts.DOMAIN/.well-known/mta-sts.txt` of each verified domain (RFC 8461 §3.3); a proxy in front has the certificate. */
export function mtaStsRoute(app: FastifyInstance, parts: OperationParts): void {
  app.get(MTA_STS_PATH, { schema: { hide: true } }, async (request, reply) => {
    const policy = await readMtaStsPolicy(parts, request.headers.host ?? '');
    if (policy === null) return reply.code(404).type('text/plain; charset=utf-8').send('No policy\n');
    return reply.type('text/plain; charset=utf-8').send(policy);
  });
}
