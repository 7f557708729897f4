import { z } from 'zod';
import { importCapability, importInput, isBase64 } from '../../../operations/emails/import-capability.ts';
import { MAX_IMPORTED } from '../../../operations/emails/import-emails.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { wireInput } from '../capability-shapes.ts';
import { text } from '../shapes.ts';

/** Bytes of a request; the program `postroom import` stays far below. @limit */
export const IMPORT_BODY_LIMIT = 40_000_000;

const message = wireInput(importInput.shape.messages.element, 'snake').extend({
  raw: z
    .string()
    .min(1)
    .refine(isBase64, 'must be base64')
    .meta({ description: 'The message (RFC 5322) in base64, with any line ends.' }),
});

/** The body is checked before the operation, and its items are not in a list. */
export const importRoutes = capabilityRoutes(importCapability, {
  operations: {
    importEmails: {
      request: wireInput(importInput, 'snake').extend({
        address: text.meta({ description: 'One of your addresses, which receives the messages.' }),
        messages: z.array(message).min(1).max(MAX_IMPORTED),
      }),
      route: { bodyLimit: IMPORT_BODY_LIMIT },
      response: {
        shape: ({ shape: { data } }) =>
          z
            .object({
              object: z.literal('import'),
              data: (data as z.ZodArray).meta({ description: 'One item for each message, in their order.' }),
            })
            .meta({ id: 'ImportedEmails' }),
        bodyOf: ({ data }) => ({ object: 'import', data }),
      },
    },
  },
});
