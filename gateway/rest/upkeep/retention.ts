import {
  acceptErasing,
  boundedPeriods,
  periods,
  retentionCapability,
} from '../../../operations/upkeep/retention-capability.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { wireInput, wireQuery } from '../capability-shapes.ts';

export const retentionRoutes = capabilityRoutes(retentionCapability, {
  operations: {
    // A period that is left out by mistake would keep mail forever.
    updateRetention: { request: wireInput(periods, 'snake').extend({ accept_erasing: acceptErasing.default(0) }) },
    previewRetention: { request: wireQuery(boundedPeriods, 'snake') },
  },
});
