/** What can happen to an email. */
export const TIMELINE_KINDS = [
  'accepted',
  'created',
  'authenticated',
  'parsed',
  'threaded',
  'asked',
  'routed',
  'held',
  'released',
  'delivery-requested',
  'delivery-attempt',
  'delivery-ended',
  'queued',
  'sending-attempt',
  'bounced',
  'given-up',
  'complained',
  'rescheduled',
  'paused',
  'resumed',
  'cancelled',
  'read',
  'unread',
  'archived',
  'unarchived',
  'reprocessed',
] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

/** One thing that happened to an email. */
export interface TimelineEntry {
  kind: TimelineKind;
  /** of what took a while, when it began, but of steps of our own when they were done */
  at: Date;
  /** in one line */
  title: string;
  /** more of it, in words; null: the title says all */
  detail: string | null;
  /** null: unknown, or it takes none */
  durationMs: number | null;
  isFailure: boolean;
  /** what it is about; null: nothing that has an id */
  nodeId: string | null;
}

/** An entry of which nothing more is known than its title. */
export function entry(
  kind: TimelineKind,
  at: Date,
  title: string,
  more: Partial<Omit<TimelineEntry, 'kind' | 'at' | 'title'>> = {},
): TimelineEntry {
  return { kind, at, title, detail: null, durationMs: null, isFailure: false, nodeId: null, ...more };
}
