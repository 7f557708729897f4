import { z } from 'zod';
import { emailAddressCapability } from '../../../operations/domains/email-address-capability.ts';
import type { EmailAddress } from '../../../operations/domains/email-addresses.ts';
import { capabilityRoutes } from '../capability-routes.ts';

const deletedAddress = z
  .object({
    success: z.literal(true),
    message: z.string(),
    id: z.string(),
    cleanup: z.object({ emailAddress: z.string(), domain: z.string(), sesRuleUpdated: z.boolean() }),
  })
  .meta({ id: 'DeletedEmailAddress' });

export const emailAddressRoutes = capabilityRoutes<EmailAddress>(emailAddressCapability, {
  operations: {
    deleteEmailAddress: {
      response: {
        shape: () => deletedAddress,
        bodyOf: (_usual, { id, address, domain }) => ({
          success: true,
          message: 'Email address deleted successfully',
          id,
          cleanup: { emailAddress: address, domain: domain.name, sesRuleUpdated: true },
        }),
      },
    },
  },
});
