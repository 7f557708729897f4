import { z } from 'zod';
import { text } from './input.ts';

const WEBHOOK_ID =
  'Legacy alternative to `endpointId`: ID of a webhook endpoint. Cannot be combined with `endpointId`.';

/** Input to create an address. */
export const newAddressShape = z.object({
  address: text,
  domainId: text,
  endpointId: text.nullish(),
  webhookId: text.nullish().meta({ description: WEBHOOK_ID }),
  isActive: z.boolean().optional(),
});

/** Input to update an address. */
export const addressChangeShape = z.object({
  endpointId: text.nullish().meta({ description: 'Null removes the endpoint, so that mail is stored only.' }),
  webhookId: text.nullish().meta({ description: WEBHOOK_ID }),
  isActive: z.boolean().optional().meta({ description: 'Whether the address accepts mail.' }),
});
