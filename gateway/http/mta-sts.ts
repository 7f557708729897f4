import type { FastifyInstance } from 'fastify';
import { MTA_STS_PATH } from '../../core/domains/mta-sts.ts';
import type { OperationParts } from '../../operations/context.ts';
import { readMtaStsPolicy } from '../../operations/domains/mta-sts.ts';
import { isOwnHost } from '../admission/own-host.ts';
import { sendMisdirected } from './error-response.ts';

/** Serves `https://mta-sts.DOMAIN/.well-known/mta-sts.txt` of each verified domain (RFC 8461 §3.3). A proxy terminates TLS. */
export function mtaStsRoute(app: FastifyInstance, parts: OperationParts): void {
  const { publicUrl } = parts.settings;
  app.get(MTA_STS_PATH, { schema: { hide: true }, config: { isForAnyHost: true } }, async (request, reply) => {
    const { host } = request.headers;
    const policy = await readMtaStsPolicy(parts, host ?? '');
    if (policy === null && !isOwnHost(host, publicUrl)) return sendMisdirected(reply, publicUrl);
    if (policy === null) return reply.code(404).type('text/plain; charset=utf-8').send('No policy\n');
    return reply.type('text/plain; charset=utf-8').send(policy);
  });
}
