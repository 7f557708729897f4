import { z } from 'zod';
import { oauthGrantCapability } from '../../../operations/accounts/oauth-grant-capability.ts';
import { capabilityRoutes } from '../capability-routes.ts';

/** With `has_more`, which the client `resend` reads in every list. */
export const oauthGrantRoutes = capabilityRoutes(oauthGrantCapability, {
  operations: {
    listOauthGrants: {
      response: {
        shape: (usual) =>
          usual
            .extend({ has_more: z.literal(false).meta({ description: 'The list is complete.' }) })
            .meta({ id: 'OauthGrantList' }),
        bodyOf: (usual) => ({ ...usual, has_more: false }),
      },
    },
  },
});
