import { MAX_READ_BODY, type MailDocument, makeMailNotice } from '../../core/html/mail-document.ts';
import {
  contentIdKey,
  imageDataUrl,
  MAX_INLINE_IMAGE_LENGTH,
  ownHostNames,
} from '../../core/html/mail-document-html.ts';
import { decodeAttachment } from '../../core/mime/attachment.ts';
import { type BodyText, textBeginning } from '../../core/shared/large-text.ts';
import type { OperationContext } from '../context.ts';
import { loadRawBytes } from './attachments.ts';
import { type EmailParts, loadContentParts, openEmail } from './emails.ts';
import { showsRemoteImages } from './image-senders.ts';
import { makeMailDocumentInWorker } from './mail-document-thread.ts';
import { readAuthentication } from './stored-authentication.ts';

export interface EmailHtmlOptions {
  /** which remote images are loaded: none, all, or all if the user always shows those of the sender (showsRemoteImages) */
  images: 'blocked' | 'remote' | 'trusted';
  /** `host[:port]` of the request; null: unknown */
  host: string | null;
}

/** Inline images per document. */
const MAX_INLINE_IMAGES = 100;

export interface EmailHtml extends MailDocument {
  /** whether remote images are loaded */
  hasRemoteImages: boolean;
}

/** Returns the sanitized HTML document of an email, with its inline images. Throws not_found. */
export async function readEmailHtml(
  context: OperationContext,
  emailId: string,
  options: EmailHtmlOptions,
): Promise<EmailHtml> {
  const email = await openEmail(context, emailId);
  const { subject } = email;
  const [parts] = await loadContentParts(context, [emailId], new Set(['html', 'text']));
  if (parts == null) return noticeHtml(subject, 'This email has not been parsed yet. Try again in a moment.');
  const [html, text] = [bodyToShow(parts.html), bodyToShow(parts.text)];
  if (parts.parseError !== null && html === null && text === null)
    return noticeHtml(subject, 'Only the header of this email could be parsed. Download it to see the original.');
  const { host, images } = options;
  const hasRemoteImages =
    images === 'remote' ||
    (images === 'trusted' && (await showsRemoteImages(context, email, readAuthentication(parts.authentication))));
  const { publicUrl, mailHostname, smtp } = context.settings;
  const ownHosts = ownHostNames([publicUrl, mailHostname, smtp.host, ...(host === null ? [] : [host])]);
  const inlineImages = await readInlineImages(context, emailId, { html, attachments: parts.attachments });
  const document = await makeMailDocumentInWorker(
    { subject, html, text, hasRemoteImages, inlineImages, ownHosts },
    { respondBy: context.respondBy },
  );
  if (document !== null) return { ...document, hasRemoteImages };
  context.log.warn({ emailId }, 'emails: rendering the HTML of an email took too long');
  return noticeHtml(subject, 'This email is too large to be shown safely. Download it to see the original.');
}

/** Returns as much of a body as a document reads. */
function bodyToShow(body: BodyText | null): string | null {
  return body === null ? null : textBeginning(body, MAX_READ_BODY + 1);
}

function noticeHtml(subject: string, reason: string): EmailHtml {
  return { ...makeMailNotice(subject, reason), hasRemoteImages: false };
}

/** Returns data: URLs of the inline images that the HTML refers to by Content-ID, up to the limits of a document. */
async function readInlineImages(
  context: OperationContext,
  emailId: string,
  { html, attachments }: Pick<EmailParts, 'attachments'> & { html: string | null },
): Promise<Map<string, string>> {
  const images = new Map<string, string>();
  if (html === null || !/cid:/i.test(html)) return images;
  const named = new Set([...html.matchAll(/\bcid:([^\s"'<>()]{1,500})/gi)].map(([, id = '']) => contentIdKey(id)));
  let left = MAX_INLINE_IMAGE_LENGTH;
  for (const { contentId, start, length, transferEncoding } of attachments) {
    const key = contentId === null ? null : contentIdKey(contentId);
    if (key === null || !named.has(key) || images.has(key) || length > left) continue;
    if (images.size >= MAX_INLINE_IMAGES) break;
    const bytes = await loadRawBytes(context, emailId, { start, length });
    if (bytes === 'missing' || bytes === 'damaged') break;
    const url = imageDataUrl(decodeAttachment(bytes, transferEncoding));
    if (url === null) continue;
    images.set(key, url);
    left -= url.length;
  }
  return images;
}
