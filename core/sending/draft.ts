/** What a draft is sent as: a new email, a reply to the sender or to all, or a forward. */
export const DRAFT_KINDS = ['new', 'reply', 'reply_all', 'forward'] as const;
export type DraftKind = (typeof DRAFT_KINDS)[number];

/** The fields of a draft as the client gave them, without bodies and attachments; null: not given yet. */
export interface DraftFields {
  from: string | null;
  to: string | readonly string[] | null;
  cc: string | readonly string[] | null;
  bcc: string | readonly string[] | null;
  replyTo: string | readonly string[] | null;
  subject: string | null;
  headers: Readonly<Record<string, string>> | null;
  tags: readonly { name: string; value: string }[] | null;
  /** see NewEmail */
  metadata: Readonly<Record<string, unknown>> | null;
  listUnsubscribe: boolean | { list?: string | null | undefined } | null;
  scheduledAt: string | null;
  timezone: string | null;
  /** of a forward: whether it carries the attachments of the original; null: it does */
  withAttachments: boolean | null;
}

/** A draft at one of its versions. */
export interface DraftVersion {
  id: string;
  version: number;
}

/** A draft that is sent. */
export interface SentDraft extends DraftVersion {
  /** the email waits so many seconds, scheduled, so that it can be cancelled; not if it has a send time of its own */
  undoSeconds: number;
}

/** Maximum drafts of an account, and bytes of all of them together. */
export const MAX_DRAFTS = 1_000;
export const MAX_DRAFT_BYTES = 500_000_000;
