/** Direction of an email. A scheduled email becomes a sent one when it is due. */
export const EMAIL_TYPES = ['sent', 'received', 'scheduled'] as const;
export type EmailType = (typeof EMAIL_TYPES)[number];

/**
 * Status of an email. Received mail is always delivered; the other values are for sent and scheduled mail. Mail that waits for approval or was
 * rejected has the type `scheduled`, because it was not sent, even where it has no time.
 */
export const EMAIL_STATUSES = [
  'pending',
  'delivered',
  'bounced',
  'failed',
  'scheduled',
  'paused',
  'cancelled',
  'awaiting_approval',
  'rejected',
] as const;
export type EmailStatus = (typeof EMAIL_STATUSES)[number];
