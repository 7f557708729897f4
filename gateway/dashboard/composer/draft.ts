import { randomId } from '../parts/random-id.ts';

/** What somebody wrote and did not send yet. */
export interface Draft {
  from: string;
  to: string[];
  cc: string[];
  bcc: string[];
  subject: string;
  text: string;
  /** when it shall go, in words; empty: at once */
  scheduledAt: string;
  /** whether the answered message stands below */
  hasQuote: boolean;
  /** whether the files of the message that is sent on go with it */
  hasOriginalFiles: boolean;
}

/** What a draft was last sent as: the same content is sent with the same key, so that it goes out once. */
export interface SendingMark {
  key: string;
  content: string;
}

interface Kept {
  draft: Draft;
  /** of files that were attached: they are not kept themselves */
  fileNames: string[];
  mark: SendingMark | null;
}

/** Under which a draft is kept in this tab. */
export function draftName(userId: string, mode: string, emailId: string | null): string {
  return `postroom-draft ${userId} ${mode} ${emailId ?? ''}`;
}

/** The draft of that name; null: there is none. */
export function readDraft(name: string): Kept | null {
  try {
    const text = sessionStorage.getItem(name);
    return text === null ? null : (JSON.parse(text) as Kept);
  } catch {
    return null;
  }
}

/** Keeps a draft until the tab is closed. A browser that has no room for it does without. */
export function keepDraft(name: string, kept: Kept): void {
  try {
    sessionStorage.setItem(name, JSON.stringify(kept));
  } catch {
    // Full, or switched off: what is written stays on the page.
  }
}

/** Forgets a draft. */
export function dropDraft(name: string): void {
  sessionStorage.removeItem(name);
}

/** The mark to send this content with: that of the last try when it was the same, so that a lost answer does not send it twice. */
export function markFor(content: string, last: SendingMark | null): SendingMark {
  return last !== null && last.content === content ? last : { key: randomId(), content };
}
