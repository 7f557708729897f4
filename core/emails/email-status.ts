/** Which way an email goes. A scheduled email becomes a sent one when its time comes. */
export const EMAIL_TYPES = ['sent', 'received', 'scheduled'] as const;
export type EmailType = (typeof EMAIL_TYPES)[number];

/** How far an email came. Received mail is delivered; the others are of sent and scheduled mail. */
export const EMAIL_STATUSES = [
  'pending',
  'delivered',
  'bounced',
  'failed',
  'scheduled',
  'paused',
  'cancelled',
] as const;
export type EmailStatus = (typeof EMAIL_STATUSES)[number];
