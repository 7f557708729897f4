import type { PayloadFacts, PayloadOptions } from './payload-facts.ts';

/** Of each attachment its content's octets in base64 (RFC 4648 §4); none when contents are not sent. */
export function contentOctets(options: PayloadOptions, { content, raw }: PayloadFacts): number[] {
  const isSent = options.attachments === 'content' && raw !== null;
  return content.attachments.map(({ size }) => (isSent ? Math.ceil(size / 3) * 4 : 0));
}

/** What a whole payload takes if nothing in it needs an escape: above the budget it need not be tried. */
export function leastOctets(
  form: PayloadOptions['payload'],
  { content, raw }: PayloadFacts,
  contents: readonly number[],
): number {
  const texts = [
    content.htmlBody,
    content.textBody,
    ...(form === 'nested' ? [content.cleanedHtml, content.cleanedText] : []),
  ];
  let octets = form === 'nested' ? (raw?.length ?? 0) : 0;
  for (const text of texts) octets += text?.length ?? 0;
  for (const size of contents) octets += size;
  return octets;
}
