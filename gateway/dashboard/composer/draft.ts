import type { Original, StoredDraft } from './composer-documents.ts';

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
export function toStoredKind(mode: ComposerMode): 'NEW' | 'REPLY' | 'FORWARD' {
  if (mode === 'new') return 'NEW';
  return mode === 'forward' ? 'FORWARD' : 'REPLY';
}

/** Returns the mode of the composer that writes this draft. */
export function toMode(kind: StoredDraft['kind']): ComposerMode {
  return ({ NEW: 'new', REPLY: 'reply', REPLY_ALL: 'reply-all', FORWARD: 'forward' } as const)[kind];
}

/** Returns the title of the composer. */
export function nameMode(mode: ComposerMode): string {
  return { new: 'New email', reply: 'Reply', 'reply-all': 'Reply to all', forward: 'Forward' }[mode];
}

/** The quoted original, in both forms; empty: it has no text. */
export type Quote = { text: string; html: string };

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

type StoredContent = Omit<StoredDraft, 'id' | 'version' | 'kind' | 'originalEmail' | 'attachments'>;

/** Returns the values of a stored draft. `first` are those of a new one, for a reply whose recipients are the default, and a draft that has no message yet. */
export function toDraft(stored: StoredContent, first: Draft, quote: Quote): Draft {
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

const REPLY = /^(re|aw|sv|antw|rif)(\[\d+\])?\s*:/i;
const FORWARD = /^(fwd?|wg|tr|rv)\s*:/i;

/** Returns the initial draft. `senders` are the user's addresses, most likely first; `isPlain`: without HTML. */
export function firstDraft(
  mode: ComposerMode,
  original: Original | null,
  senders: readonly string[],
  to: string[],
  isPlain: boolean,
): Draft {
  const draft: Draft = {
    from: senderFor(original, senders),
    to,
    cc: [],
    bcc: [],
    subject: '',
    text: '',
    html: isPlain ? null : '',
    scheduledAt: '',
    hasQuote: true,
    hasOriginalFiles: true,
  };
  if (original === null || mode === 'new') return draft;
  if (mode === 'forward')
    return { ...draft, subject: FORWARD.test(original.subject) ? original.subject : `Fwd: ${original.subject}`.trim() };
  return {
    ...draft,
    ...chooseAudience(original, mode === 'reply-all', senders),
    subject: REPLY.test(original.subject) ? original.subject : `Re: ${original.subject}`.trim(),
  };
}

function senderFor(original: Original | null, senders: readonly string[]): string {
  if (original === null) return senders[0] ?? '';
  if (original.type !== 'RECEIVED') return original.from.address;
  const took = original.ownAddress?.address ?? original.envelopeRecipient;
  return took === null ? (senders[0] ?? '') : withoutTag(took);
}

/** Returns the recipients of a reply: Reply-To, else From; for the user's own mail, its recipients (RFC 5322 §3.6.3). */
function chooseAudience(original: Original, isToAll: boolean, senders: readonly string[]): Pick<Draft, 'to' | 'cc'> {
  const own = new Set(
    [...senders, original.ownAddress?.address ?? '', original.envelopeRecipient ?? ''].map(withoutTag),
  );
  const isOther = ({ address }: Person) => !own.has(withoutTag(address));
  const asked =
    original.type === 'RECEIVED' ? (original.replyTo.length > 0 ? original.replyTo : [original.from]) : original.to;
  const others = asked.filter(isOther);
  const to = (others.length > 0 ? others : asked).map(mailboxLine);
  if (!isToAll) return { to, cc: [] };
  const taken = new Set(to.map((text) => addressIn(text).toLowerCase()));
  const cc = [...original.to, ...original.cc].filter((one) => isOther(one) && !taken.has(one.address.toLowerCase()));
  return { to, cc: [...new Map(cc.map((one) => [one.address.toLowerCase(), mailboxLine(one)])).values()] };
}

/** A person in GraphQL. */
type Person = { name: string | null; address: string };

/** Detects typing errors only; the service validates addresses. */
const ADDRESS = /^[^\s@<>(),;:"[\]\\]+@[^\s@<>(),;:"[\]\\]+\.[^\s@<>(),;:"[\]\\.]+$/u;

/** Returns `ann@example.com` for `Ann <ann@example.com>`, and text without angle brackets unchanged. */
export function addressIn(text: string): string {
  return /<([^<>]*)>\s*$/.exec(text)?.[1]?.trim() ?? text.trim();
}

/** Returns whether a text looks like `address` or `Name <address>`. */
export function looksLikeMailbox(text: string): boolean {
  return ADDRESS.test(addressIn(text));
}

/** Returns `Ann <ann@example.com>`, with the name in quotes if needed (RFC 5322 §3.2.4), or the address if there is no name. */
export function mailboxLine({ name, address }: Person): string {
  const shown = name?.trim() ?? '';
  if (shown === '') return address;
  const isPlain = /^[\p{L}\p{N}\s'_-]+$/u.test(shown);
  return `${isPlain ? shown : `"${shown.replaceAll(/["\\]/g, '\\$&')}"`} <${address}>`;
}

/** Returns an error message for invalid mailboxes, or null. */
export function refusalOfMailboxes(texts: readonly string[]): string | null {
  const wrong = texts.filter((text) => !looksLikeMailbox(text));
  if (wrong.length === 0) return null;
  return wrong.length === 1
    ? `"${wrong[0]}" is not a valid address`
    : `These are not valid addresses: ${wrong.join(', ')}`;
}

/** Returns `ann@example.com` for `ann+news@example.com`, in lower case. */
function withoutTag(address: string): string {
  return address.toLowerCase().replace(/^([^+]+)\+.*@/, '$1@');
}
