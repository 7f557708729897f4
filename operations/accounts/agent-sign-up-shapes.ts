import { z } from 'zod';
import { secret } from '../../core/accounts/secret-fields.ts';

/** What agents sign up with. */
export const signUpBody = z
  .strictObject({
    email: z
      .email('must be an address such as you@example.com')
      .max(254)
      .toLowerCase()
      .meta({
        description: 'Address of the person whom the agent works for. The code is mailed there.',
        examples: ['you@example.com'],
      }),
    name: z
      .string()
      .trim()
      .min(1, 'must not be empty')
      .max(60, 'must have 60 characters at most')
      .meta({ description: 'Name of the agent, which also makes the address of its inbox.' }),
  })
  .meta({ examples: [{ email: 'you@example.com', name: 'Scout' }] });
const status = z.enum(['unconfirmed', 'confirmed']).meta({ description: 'Whether the code was confirmed.' });
/** The inbox and the key of an agent. */
export const signUpResponse = z.object({
  object: z.literal('agent_sign_up'),
  status,
  address: z.string().meta({ description: 'Address of the inbox.' }),
  api_key: z
    .string()
    .nullable()
    .meta({
      ...secret,
      description: 'The API key. Null if the request repeats another one without its Idempotency-Key.',
    }),
  message: z.string().meta({ description: 'What to do next.' }),
});
/** What a confirmed agent may do. */
export const confirmResponse = z.object({
  object: z.literal('agent_sign_up'),
  status,
  message: z.string().meta({ description: 'What may be done now.' }),
});
/** What agents confirm their sign-up with. */
export const confirmBody = z
  .strictObject({
    code: z
      .string()
      .trim()
      .regex(/^\d{6}$/, 'must be the 6 digits from the mail')
      .meta({ description: 'The 6 digits from the mail.', examples: ['123456'] }),
  })
  .meta({ examples: [{ code: '123456' }] });
