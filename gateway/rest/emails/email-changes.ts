import { z } from 'zod';
import { emailChangeCapability } from '../../../operations/emails/email-change-capability.ts';
import { MAX_REPROCESSED, REPROCESS_STEPS } from '../../../operations/emails/reprocess.ts';
import { reprocessCapability } from '../../../operations/emails/reprocess-capability.ts';
import { capabilityRoutes } from '../capability-routes.ts';

export const emailChangeRoutes = capabilityRoutes(emailChangeCapability);

/** The lists are checked before the operation. */
export const reprocessRoutes = capabilityRoutes(reprocessCapability, {
  operations: {
    reprocessEmails: {
      request: z.object({
        email_ids: z
          .array(z.string())
          .min(1)
          .max(MAX_REPROCESSED)
          .meta({ description: `IDs of 1 to ${MAX_REPROCESSED} emails.` }),
        steps: z.array(z.enum(REPROCESS_STEPS)).min(1).meta({
          description:
            'Steps to run, always in this order: `parse` parses the raw message with the current parser, `thread` threads the email as if it arrived now, `route` applies guard rules and routes, and delivers the email again accordingly.',
        }),
        dry_run: z.boolean().meta({ description: 'True to change nothing and return what would change.' }),
      }),
    },
  },
});
