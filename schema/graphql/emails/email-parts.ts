import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import { type ContentPart, type EmailParts, loadContentParts } from '../../../operations/emails/emails.ts';
import type { GraphContext } from '../context.ts';

interface Asked {
  emailId: string;
  /** null: only what is never large */
  part: ContentPart | null;
}

/**
 * What only an opened email shows; all null and empty while the email has no content. `part` is there in any case, other parts may not be:
 * what is asked for of many emails comes together, and nothing large that nobody asked for.
 */
export function loadEmailParts(context: GraphContext, emailId: string, part: ContentPart | null): Promise<EmailParts> {
  return loaderOf(context).load({ emailId, part });
}

const loaderOf = createContextCache(
  (context: GraphContext) =>
    new DataLoader<Asked, EmailParts, string>((asked) => loadAll(context, asked), {
      cacheKeyFn: ({ emailId, part }) => `${part} ${emailId}`,
    }),
);

async function loadAll({ reads }: GraphContext, asked: readonly Asked[]): Promise<EmailParts[]> {
  const partsOf = new Map<string, Set<ContentPart>>();
  for (const { emailId, part } of asked) {
    const parts = partsOf.get(emailId) ?? new Set();
    if (part !== null) parts.add(part);
    partsOf.set(emailId, parts);
  }
  // Mostly one group: the same fields are asked for of all emails of a page.
  const groups = Map.groupBy(partsOf, ([, parts]) => [...parts].toSorted().join());
  const found = new Map<string, EmailParts>();
  for (const group of groups.values()) {
    const emailIds = group.map(([emailId]) => emailId);
    const contents = await loadContentParts(reads, emailIds, group[0]?.[1] ?? new Set());
    contents.forEach((content, at) => found.set(emailIds[at] ?? '', content ?? EMPTY));
  }
  return asked.map(({ emailId }) => found.get(emailId) ?? EMPTY);
}

const EMPTY: EmailParts = {
  headers: [],
  addresses: { from: null, to: null, cc: null, bcc: null, replyTo: null },
  inReplyTo: [],
  references: [],
  text: null,
  html: null,
  cleanedText: null,
  cleanedHtml: null,
  attachments: [],
  authentication: null,
  tags: [],
  priority: null,
  isTruncated: false,
  parseError: null,
};
