import { randomId } from '../parts/random-id.ts';

/** An unsent email. */
export interface Draft {
  from: string;
  to: string[];
  cc: string[];
  bcc: string[];
  subject: string;
  text: string;
  /** send time in words; empty: now */
  scheduledAt: string;
  /** whether to quote the original message */
  hasQuote: boolean;
  /** whether to include the attachments of the forwarded message */
  hasOriginalFiles: boolean;
}

/** Idempotency key of the last attempt. The same content is sent with the same key, so that it is sent once. */
export interface SendingMark {
  key: string;
  content: string;
}

interface Kept {
  draft: Draft;
  /** names of attached files; the files themselves are not saved */
  fileNames: string[];
  mark: SendingMark | null;
}

/** Returns the session storage key of a draft. */
export function draftName(userId: string, mode: string, emailId: string | null): string {
  return `postroom-draft ${userId} ${mode} ${emailId ?? ''}`;
}

/** Returns the draft with this key, or null. */
export function readDraft(name: string): Kept | null {
  try {
    const text = sessionStorage.getItem(name);
    return text === null ? null : (JSON.parse(text) as Kept);
  } catch {
    return null;
  }
}

/** Saves a draft until the tab is closed. Does nothing if the storage is full. */
export function keepDraft(name: string, kept: Kept): void {
  try {
    sessionStorage.setItem(name, JSON.stringify(kept));
  } catch {
    // The storage is full or disabled. The draft stays on the page.
  }
}

/** Deletes a draft. */
export function dropDraft(name: string): void {
  sessionStorage.removeItem(name);
}

/** Returns the mark for this content: that of the last attempt if the content is unchanged, so that a lost response does not cause a second email. */
export function markFor(content: string, last: SendingMark | null): SendingMark {
  return last !== null && last.content === content ? last : { key: randomId(), content };
}
