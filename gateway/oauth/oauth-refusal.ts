import type { FastifyReply, FastifyRequest } from 'fastify';
import { UserError } from '../../core/shared/errors.ts';
import { sendError } from '../http/error-response.ts';

/** An error of OAuth, as RFC 6749 §5.2 and others write it. */
export class OauthRefusal extends Error {
  override name = 'OauthRefusal';
  readonly error: string;
  readonly statusCode: number;

  constructor(error: string, description: string, statusCode = 400) {
    super(description);
    this.error = error;
    this.statusCode = statusCode;
  }
}

/** Sends the error of a route that clients of OAuth call. */
export function sendOauthError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = readRefusal(error);
  if (refusal === null) return void sendError(error, request, reply);
  if (error instanceof UserError && error.retryAfterSeconds !== undefined)
    reply.header('retry-after', String(error.retryAfterSeconds));
  void reply
    .code(refusal.statusCode)
    .type('application/json; charset=utf-8')
    .serializer((payload) => payload as string)
    .send(JSON.stringify({ error: refusal.error, error_description: refusal.message }));
}

function readRefusal(error: unknown): OauthRefusal | null {
  if (error instanceof OauthRefusal) return error;
  if (!(error instanceof UserError)) return null;
  if (error.code === 'rate_limited') return new OauthRefusal('temporarily_unavailable', error.message, 429);
  return error.code === 'validation' ? new OauthRefusal('invalid_request', error.message) : null;
}
