import { z } from 'zod';
import {
  invitationCapability,
  memberCapability,
  workspaceCapability,
} from '../../../operations/accounts/member-capability.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { queryBoolean } from '../shapes.ts';

export const memberRoutes = [
  capabilityRoutes(workspaceCapability),
  capabilityRoutes(memberCapability, {
    operations: {
      removeMember: {
        request: z.object({}),
        query: z.object({
          keep_keys: queryBoolean.default(false).meta({
            description:
              'Whether the API keys that the member created, and what they set up, stay. They are then yours. Default: they are revoked.',
          }),
        }),
      },
    },
  }),
  capabilityRoutes(invitationCapability),
];
