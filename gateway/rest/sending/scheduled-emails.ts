import { z } from 'zod';
import {
  describeCancelled,
  scheduleCapability,
  scheduleChange,
} from '../../../operations/sending/schedule-capability.ts';
import type { ScheduleChange } from '../../../operations/sending/scheduled-emails.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { makeWriter, wireOutput } from '../capability-shapes.ts';

export const scheduledEmailRoutes = capabilityRoutes(scheduleCapability, {
  operations: {
    resumeEmail: {
      request: z.object({
        scheduled_at: z.string().nullish().meta({ description: 'New send time. The default is the original one.' }),
        scheduledAt: z.string().nullish().meta({ deprecated: true, description: 'Alias of `scheduled_at`.' }),
        timezone: z.string().nullish().meta({
          description: 'IANA time zone of `scheduled_at`. The default is the time zone of the email.',
        }),
      }),
      inputOf: ({ scheduled_at: text, scheduledAt, timezone }) => ({ scheduledAt: text ?? scheduledAt, timezone }),
    },
  },
});

export const scheduleChangeBody = wireOutput(scheduleChange, 'snake');

const write = makeWriter(scheduleChange, 'snake');

/** Returns the response of what cancels an email. */
export function makeCancelledBody(change: ScheduleChange): Record<string, unknown> {
  return write?.(describeCancelled(change)) as Record<string, unknown>;
}
