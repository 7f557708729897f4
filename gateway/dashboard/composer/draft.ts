import { looksLikeMailbox } from './address-text.ts';
import type { StoredDraft } from './composer-documents.ts';

/** Time zone of this browser, such as `Europe/Berlin`. */
export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Purpose of the composer. */
export type ComposerMode = 'new' | 'reply' | 'reply-all' | 'forward';

/** The values of the composer's form. */
export interface Draft {
  from: string;
  to: string[];
  cc: string[];
  bcc: string[];
  subject: string;
  /** the message without the quotation: as it is written, or what the HTML says */
  text: string;
  /** null: plain text */
  html: string | null;
  /** send time in words; empty: now */
  scheduledAt: string;
  /** whether to quote the original message */
  hasQuote: boolean;
  /** whether to include the attachments of the forwarded message */
  hasOriginalFiles: boolean;
}

/** Returns the kind of the draft that a composer writes. The recipients of a reply are named, so that the sender's kind suffices. */
export function kindOf(mode: ComposerMode): 'NEW' | 'REPLY' | 'FORWARD' {
  if (mode === 'new') return 'NEW';
  return mode === 'forward' ? 'FORWARD' : 'REPLY';
}

/** Returns the mode of the composer that writes this draft. */
export function modeOf(kind: StoredDraft['kind']): ComposerMode {
  return ({ NEW: 'new', REPLY: 'reply', REPLY_ALL: 'reply-all', FORWARD: 'forward' } as const)[kind];
}

/** Returns the title of the composer. */
export function titleOf(mode: ComposerMode): string {
  return { new: 'New email', reply: 'Reply', 'reply-all': 'Reply to all', forward: 'Forward' }[mode];
}

/** The quoted original, in both forms; empty: it has no text. */
export interface Quote {
  text: string;
  html: string;
}

export const NO_QUOTE: Quote = { text: '', html: '' };

/** Returns the fields of the draft as the service stores them. Addresses that are still being typed are left out. */
export function draftInput(draft: Draft, mode: ComposerMode, quote: Quote) {
  const schedule = draft.scheduledAt.trim();
  const from = draft.from.trim();
  return {
    from: looksLikeMailbox(from) ? from : null,
    to: draft.to.filter(looksLikeMailbox),
    cc: draft.cc.filter(looksLikeMailbox),
    bcc: draft.bcc.filter(looksLikeMailbox),
    subject: draft.subject.trim(),
    text: draft.hasQuote && quote.text !== '' ? `${draft.text.trimEnd()}\n\n${quote.text}\n` : draft.text,
    html: draft.html === null ? null : draft.html + (draft.hasQuote ? quote.html : ''),
    scheduledAt: schedule === '' ? null : schedule,
    timezone: schedule === '' ? null : timeZone,
    ...(mode === 'forward' ? { withAttachments: draft.hasOriginalFiles } : {}),
  };
}

/**
 * Returns the values of a stored draft. `first` are those of a new one, for a reply whose recipients are the default, and a draft that has no
 * message yet.
 */
export function valuesOf(stored: StoredDraft, first: Draft, quote: Quote): Draft {
  const text = stored.text ?? '';
  const ending = `\n\n${quote.text}\n`;
  const hasTextQuote = quote.text !== '' && text.endsWith(ending);
  const hasHtmlQuote = quote.html !== '' && (stored.html ?? '').endsWith(quote.html);
  const hasQuote = stored.html === null ? hasTextQuote : hasHtmlQuote;
  const written = stored.html === null && text === '' ? first.html : stored.html;
  const isAddressed = stored.to.length + stored.cc.length + stored.bcc.length > 0;
  return {
    from: stored.from ?? first.from,
    to: isAddressed ? stored.to : first.to,
    cc: isAddressed ? stored.cc : first.cc,
    bcc: stored.bcc,
    subject: stored.subject ?? first.subject,
    text: hasTextQuote && hasQuote ? text.slice(0, -ending.length) : text,
    html: hasHtmlQuote && written !== null ? written.slice(0, -quote.html.length) : written,
    scheduledAt: stored.scheduledAt ?? '',
    hasQuote,
    hasOriginalFiles: stored.withAttachments,
  };
}
