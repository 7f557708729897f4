import { useQuery } from 'urql';
import { SIGNATURES } from './composer-documents.ts';
import { addressIn, type Draft, looksLikeMailbox } from './draft.ts';
import { writeLines } from './mail-html.ts';

/** The line that separates a signature from the text (RFC 3676 §4.3). */
const SEPARATOR = '-- ';

/** What a signature begins with in plain text. */
export const SIGNATURE_START = `\n\n${SEPARATOR}\n`;

/** Returns what is searched for to find the signature of a sender. */
function findSigner(from: string): string {
  return addressIn(from).toLowerCase();
}

/** Returns a draft without text, with the signature below the place to write. `signature`: null for none. */
export function withSignature(draft: Draft, signature: string | null): Draft {
  if (signature === null) return draft;
  return {
    ...draft,
    text: textBlock(signature),
    html: draft.html === null ? null : `<p><br></p>${htmlBlock(signature)}`,
  };
}

/** Returns the message with the signature of another sender instead of `before`, where it still has that. */
export function replaceSignature(
  { text, html }: Pick<Draft, 'text' | 'html'>,
  before: string | null,
  after: string | null,
): Pick<Draft, 'text' | 'html'> {
  const block = after === null ? '' : textBlock(after);
  const old = before === null ? '' : textBlock(before);
  if (html === null) {
    if (!text.trimEnd().endsWith(old.trimEnd())) return { text, html };
    return { text: text.trimEnd().slice(0, text.trimEnd().length - old.trimEnd().length) + block, html };
  }
  const found = /<div data-signature(?:="")?>[\s\S]*?<\/div>/;
  const added = after === null ? '' : htmlBlock(after);
  if (found.test(html)) return { text, html: html.replace(found, () => added) };
  return before === null ? { text, html: (html === '' ? '<p><br></p>' : html) + added } : { text, html };
}

function textBlock(signature: string): string {
  return SIGNATURE_START + signature;
}

function htmlBlock(signature: string): string {
  return `<div data-signature=""><p>${SEPARATOR}<br>${writeLines(signature)}</p></div>`;
}

/** Returns the signature of the sender; null if the address has none or its signature cannot be read, undefined while it is read. */
export function useSignature(from: string): string | null | undefined {
  const signer = findSigner(from);
  const isPaused = !looksLikeMailbox(from);
  const [{ data, error, operation }] = useQuery({ query: SIGNATURES, variables: { search: signer }, pause: isPaused });
  if (isPaused) return undefined;
  if (error !== undefined && data === undefined) return null;
  // The data of the previous sender stays until those of this one are there.
  if (data === undefined || operation?.variables.search !== signer) return undefined;
  return data.emailAddresses.edges.find(({ node }) => node.address === signer)?.node.signature ?? null;
}
