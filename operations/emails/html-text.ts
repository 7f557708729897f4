import { type StoredMail } from '../../core/endpoints/payload-facts.ts';
import { MAX_HTML_LENGTH, type RunStep, textOfHtmlInSteps } from '../../core/html/text-of-html.ts';
import {
  type Bodies,
  type RemovedKind,
  type RemovedPart,
  type RemovedTexts,
  readRemovedTexts,
  removedSource,
} from '../../core/mime/reply-text.ts';
import { type BodyText, textBeginning } from '../../core/shared/large-text.ts';
import { createTurns } from '../../core/shared/turns.ts';
import type { ReadEmail } from '../../db/queries/emails/email-read.ts';
import type { EmailContent } from '../../db/queries/emails/email-row.ts';

/** All HTML of the process is read in these turns: however much there is, other requests wait for a few milliseconds of it. */
const turns = createTurns();

function makeSteps(workspaceId: string): RunStep {
  return (step) => turns.run(workspaceId, step);
}

/** Runs work on the HTML of an account when its turn comes, for what is not done in steps. */
export function inTurn<T>(workspaceId: string, work: () => T): Promise<T> {
  return turns.run(workspaceId, work);
}

/** Returns the text of HTML, which shows its beginning if it is large. */
export function readHtmlText(workspaceId: string, html: BodyText): Promise<string | null> {
  return textOfHtmlInSteps(textBeginning(html, MAX_HTML_LENGTH), makeSteps(workspaceId));
}

/** Returns the quoted mail and the signature of an email that becomes a payload. */
export function readPayloadTexts(
  mail: Pick<StoredMail, 'workspace_id' | 'text_body' | 'html_body' | 'removed_parts'>,
): Promise<RemovedTexts> {
  const bodies = { text: mail.text_body, html: mail.html_body };
  return readRemovedTexts(bodies, mail.removed_parts, makeSteps(mail.workspace_id));
}

/** Returns the removed parts of a kind as one text; see removedSource. */
export async function readRemovedText(
  workspaceId: string,
  bodies: Bodies,
  { removed, kind }: { removed: readonly RemovedPart[]; kind: RemovedKind },
): Promise<BodyText | null> {
  const source = removedSource(bodies, removed, kind);
  return source !== null && 'html' in source
    ? textOfHtmlInSteps(source.html, makeSteps(workspaceId))
    : (source?.text ?? null);
}

/** Returns content with the text of its HTML where it has no other. */
export async function withText<Content extends Pick<EmailContent, 'text' | 'html'>>(
  workspaceId: string,
  content: Content,
): Promise<Content> {
  if (content.text !== null || content.html === null) return content;
  return { ...content, text: await readHtmlText(workspaceId, content.html) };
}

/** An email with the texts that are read from its HTML. */
export interface EmailDetails extends ReadEmail {
  /** the quoted mail among removedParts, as text */
  quotedText: BodyText | null;
  /** the signature among removedParts, as text */
  signature: BodyText | null;
}

/** Returns an email with the texts that are read from its HTML. */
export async function withTexts(workspaceId: string, email: ReadEmail): Promise<EmailDetails> {
  const { text, html, cleanedText, cleanedHtml, removedParts: removed } = email;
  return {
    ...(await withText(workspaceId, email)),
    cleanedText: cleanedText ?? (cleanedHtml === null ? null : await readHtmlText(workspaceId, cleanedHtml)),
    quotedText: await readRemovedText(workspaceId, { text, html }, { removed, kind: 'quote' }),
    signature: await readRemovedText(workspaceId, { text, html }, { removed, kind: 'signature' }),
  };
}
