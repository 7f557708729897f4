import {
  acceptErasing,
  boundedPeriods,
  periods,
  retentionCapability,
} from '../../../operations/upkeep/retention-capability.ts';
import { sendSnakeCaseError } from '../../http/error-response.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { wireInput, wireQuery } from '../capability-shapes.ts';

const route = { errorHandler: sendSnakeCaseError };

export const retentionRoutes = capabilityRoutes(retentionCapability, {
  operations: {
    // A period that is left out by mistake would keep mail forever.
    updateRetention: {
      route,
      request: wireInput(periods, 'snake').extend({ accept_erasing: acceptErasing.default(0) }),
    },
    previewRetention: { route, request: wireQuery(boundedPeriods, 'snake') },
  },
});
