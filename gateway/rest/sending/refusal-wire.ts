import { z } from 'zod';
import { adviceOn, REFUSAL_REASON_NAMES, type RefusalReason } from '../../../core/sending/refusal-advice.ts';

/** Why a server refused or deferred a message, in plain words. */
export const refusalBody = z
  .object({
    reason: z.enum(REFUSAL_REASON_NAMES),
    type: z.enum(['hard', 'soft']).meta({
      description: '`hard`: the address can receive no mail. `soft`: refused or deferred for another reason.',
    }),
    title: z.string().meta({ description: 'What happened.', examples: ['The mailbox is full'] }),
    advice: z.string().meta({ description: 'What you can do.' }),
  })
  .meta({ id: 'Refusal' });

export function refusalBodyOf(reason: RefusalReason | null): z.infer<typeof refusalBody> | null {
  return adviceOn(reason);
}
