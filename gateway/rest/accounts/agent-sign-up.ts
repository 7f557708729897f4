import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { UserError } from '../../../core/shared/errors.ts';
import { confirmAgent, signUpAgent } from '../../../operations/accounts/agent-sign-up.ts';
import type { AuthAttempts } from '../../accounts/auth-attempts.ts';
import { access, requireDeclaredAccess } from '../../admission/access.ts';
import type { Admission } from '../../admission/admission.ts';
import type { ContextOf } from '../../operation-context.ts';

export interface AgentSignUpOptions {
  admission: Admission;
  contextOf: ContextOf;
  attempts: AuthAttempts;
  /** the domain below which agents get inboxes; null: agents cannot sign up */
  domain: string | null;
}

const signUpBody = z.strictObject({
  email: z.email('must be an address such as you@example.com').max(254).toLowerCase(),
  name: z.string().trim().min(1, 'must not be empty').max(60, 'must have 60 characters at most'),
});
const confirmBody = z
  .strictObject({
    code: z
      .string()
      .trim()
      .regex(/^\d{6}$/, 'must be the 6 digits from the mail'),
  })
  .meta({ examples: [{ code: '123456' }] });
const IDEMPOTENCY_KEY = /^[!-~]{16,255}$/;
const BODY_LIMIT = 4_096;

/** Serves the sign-up of agents, which needs no key, and its confirmation by a code, which needs the key of the sign-up. */
export async function agentSignUpRoutes(plain: FastifyInstance, options: AgentSignUpOptions): Promise<void> {
  const { admission, contextOf, attempts, domain } = options;
  const app = plain.withTypeProvider<ZodTypeProvider>();

  app.post('/sign-up', { schema: { hide: true, body: signUpBody }, bodyLimit: BODY_LIMIT }, async (request, reply) => {
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
      object: 'agent_sign_up',
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
    admitted.addHook('onRequest', admission.admit);
    admitted.withTypeProvider<ZodTypeProvider>().post(
      '/confirm',
      {
        schema: { hide: true, body: confirmBody },
        config: { access: access.readAccount },
        bodyLimit: BODY_LIMIT,
      },
      async (request) => {
        await confirmAgent(contextOf(request), request.body.code);
        return { object: 'agent_sign_up', status: 'confirmed', message: 'The key now writes to every address.' };
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
