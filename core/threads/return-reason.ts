/** Why a thread came back to the inbox: its snooze was over, a reply came while it was snoozed, or none came in time. */
export const RETURN_REASONS = ['snooze', 'reply', 'reminder'] as const;

export type ReturnReason = (typeof RETURN_REASONS)[number];
