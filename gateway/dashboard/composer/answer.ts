import { addressIn, mailboxLine, type Person, withoutTag } from './address-text.ts';
import type { Original } from './composer-documents.ts';
import type { ComposerMode, Draft } from './draft.ts';

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
    ...audienceOf(original, mode === 'reply-all', senders),
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
function audienceOf(original: Original, isToAll: boolean, senders: readonly string[]): Pick<Draft, 'to' | 'cc'> {
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
