import type { z } from 'zod';
import { orderedSpamCheck } from '../../core/screening/spam-check.ts';
import type { EmailContent } from '../../db/queries/emails/email-row.ts';
import type { emailSecurity } from './finding-shapes.ts';

/** Returns what the screening of an email says, as all interfaces show it. */
export function describeSecurity({
  injection,
  screening,
}: Pick<EmailContent, 'injection' | 'screening'>): z.infer<typeof emailSecurity> {
  return {
    injection,
    spam: orderedSpamCheck(screening?.spam ?? null),
    virus: screening?.virus ?? null,
  };
}
