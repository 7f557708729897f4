import { z } from 'zod';
import { MAX_DOMAIN_LENGTH } from '../../core/domains/domain-name.ts';
import { text } from './text.ts';

/** A domain's name as it is given. */
export const domainNameShape = text.min(1).max(MAX_DOMAIN_LENGTH);

/** A domain that is to be added. */
export const newDomainShape = z.object({ domain: domainNameShape });

/** What of a domain shall be otherwise. */
export const domainChangeShape = z.object({
  isCatchAllEnabled: z.boolean().optional().meta({ description: 'whether mail to unknown addresses is routed' }),
  catchAllEndpointId: text.nullish().meta({ description: 'where to; needed to enable that' }),
  receiveDmarcEmails: z.boolean().optional().meta({
    description: 'whether mail to dmarc@ is routed like other mail; with it isCatchAllEnabled may be absent',
  }),
});
