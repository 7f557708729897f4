import { z } from 'zod';
import { MAX_DOMAIN_LENGTH } from '../../core/domains/domain-name.ts';
import { text } from './input.ts';

/** The name of a domain, as the user enters it. */
export const domainNameShape = text.min(1).max(MAX_DOMAIN_LENGTH);

/** Input to add a domain. */
export const newDomainShape = z.object({ domain: domainNameShape });

/** Input to update a domain. */
export const domainChangeShape = z.object({
  isCatchAllEnabled: z
    .boolean()
    .optional()
    .meta({ description: 'Whether to accept and route mail to unknown addresses.' }),
  catchAllEndpointId: text
    .nullish()
    .meta({ description: 'ID of the endpoint that receives the mail; required to turn the catch-all on.' }),
  receiveDmarcEmails: z.boolean().optional().meta({
    description: 'Whether to route mail to dmarc@ like other mail. If you set it, `isCatchAllEnabled` is optional.',
  }),
});
