import { z } from 'zod';
import { text } from './text.ts';

const WEBHOOK_ID =
  'the former name of routing to a webhook: the id of an endpoint of type webhook; excludes `endpointId`';

/** An address that is to be added. */
export const newAddressShape = z.object({
  address: text,
  domainId: text,
  endpointId: text.nullish(),
  webhookId: text.nullish().meta({ description: WEBHOOK_ID }),
  isActive: z.boolean().optional(),
});

/** What of an address shall be otherwise. */
export const addressChangeShape = z.object({
  endpointId: text.nullish().meta({ description: 'null takes routing to an endpoint away' }),
  webhookId: text.nullish().meta({ description: WEBHOOK_ID }),
  isActive: z.boolean().optional().meta({ description: 'one that is not active takes no mail' }),
});
