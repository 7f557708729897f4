import { z } from 'zod';
import { MAX_OVERVIEW_HOURS } from '../../../operations/upkeep/overview.ts';
import { overviewCapability } from '../../../operations/upkeep/overview-capability.ts';
import { capabilityRoutes } from '../capability-routes.ts';

const DEFAULT_HOURS = 24;

export const overviewRoutes = capabilityRoutes(overviewCapability, {
  operations: {
    getOverview: {
      request: z.object({
        hours: z.coerce.number().int().min(1).max(MAX_OVERVIEW_HOURS).default(DEFAULT_HOURS).meta({
          description: 'Number of hours, including the current one.',
        }),
      }),
    },
  },
});
