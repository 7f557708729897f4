import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { UserError } from '../../../core/shared/errors.ts';
import { confirmAgent, signUpAgent } from '../../../operations/accounts/agent-sign-up.ts';
import * as shapes from '../../../operations/accounts/agent-sign-up-shapes.ts';
import type { AuthAttempts } from '../../accounts/auth-attempts.ts';
import { access, requireDeclaredAccess } from '../../admission/access.ts';
import { type Admission, admitRequests } from '../../admission/admission.ts';
import type { ContextOf } from '../../operation-context.ts';
import { errorBody, text } from '../shapes.ts';

export interface AgentSignUpOptions {
  admission: Admission;
  contextOf: ContextOf;
  attempts: AuthAttempts;
  /** the domain below which agents get inboxes; null: agents cannot sign up */
  domain: string | null;
}

const IDEMPOTENCY_KEY = /^[!-~]{16,255}$/;
const BODY_LIMIT = 4_096;

/** Serves the sign-up of agents, which needs no key, and its confirmation by a code, which needs the key of the sign-up. */
export async function agentSignUpRoutes(plain: FastifyInstance, options: AgentSignUpOptions): Promise<void> {
  const { admission, contextOf, attempts, domain } = options;
  const app = plain.withTypeProvider<ZodTypeProvider>();

  const signUpSchema = {
    operationId: 'signUpAgent',
    summary: 'Sign up as an agent',
    description:
      'Creates an inbox and an API key without authentication, if the operator has set AGENT_SIGN_UP_DOMAIN. The key reads the mail of the inbox and writes to `email` only, until the 6-digit code in the mail to that person is confirmed. A repeat with the same Idempotency-Key returns the same inbox and key.',
    tags: ['Agents'],
    security: [],
    headers: z.object({
      'idempotency-key': text.optional().meta({
        description: 'At least 16 random characters. With it, a repeat of the request shows the API key again.',
      }),
    }),
    body: shapes.signUpBody,
    response: { 200: shapes.signUpResponse, 403: errorBody, 409: errorBody, default: errorBody },
  };
  app.post('/sign-up', { schema: signUpSchema, bodyLimit: BODY_LIMIT }, async (request, reply) => {
    const { email, name } = request.body;
    if (domain === null)
      throw new UserError(
        'forbidden',
        'Agents cannot sign up here. Ask the operator to set AGENT_SIGN_UP_DOMAIN, or a person for an API key.',
        { title: 'Forbidden', reason: 'AGENT_SIGN_UP_CLOSED' },
      );
    const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key']);
    await attempts.take({ kind: 'agent-sign-up', address: request.ip, account: email });
    const signUp = await signUpAgent(contextOf(request), { email, name, idempotencyKey }, domain);
    return reply.send({
      object: 'agent_sign_up' as const,
      status: signUp.isConfirmed ? 'confirmed' : 'unconfirmed',
      address: signUp.address,
      api_key: signUp.apiKey,
      message: signUp.isConfirmed
        ? 'This sign-up was confirmed before.'
        : `The key reads mail to ${signUp.address}, and writes to ${email} only. Ask the person for the 6-digit code in the mail, and confirm it with POST /api/e2/agent/confirm.`,
    });
  });

  await plain.register(async (admitted) => {
    requireDeclaredAccess(admitted);
    admitRequests(admitted, admission.admit);
    admitted.withTypeProvider<ZodTypeProvider>().post(
      '/confirm',
      {
        schema: {
          operationId: 'confirmAgent',
          summary: 'Confirm the sign-up of an agent',
          description:
            'Confirms the 6-digit code from the mail to the person, with the key of the sign-up. The key then writes to every address, and the inbox is a workspace of that person.',
          tags: ['Agents'],
          body: shapes.confirmBody,
          response: { 200: shapes.confirmResponse, 404: errorBody, 409: errorBody, default: errorBody },
        },
        config: { access: access.readAccount },
        bodyLimit: BODY_LIMIT,
      },
      async (request) => {
        await confirmAgent(contextOf(request), request.body.code);
        return {
          object: 'agent_sign_up' as const,
          status: 'confirmed' as const,
          message: 'The key now writes to every address.',
        };
      },
    );
  });
}

/** Returns the key of the client; null without one. Throws validation. */
function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === 'string' && IDEMPOTENCY_KEY.test(header)) return header;
  const message =
    'Idempotency-Key must have 16 to 255 characters without spaces, and be random: it shows the API key again.';
  throw new UserError('validation', message, { details: [{ field: 'Idempotency-Key', message }] });
}
