import type { OutgoingAttachment } from '../sending/outgoing-attachments.ts';
import { type Attachment, attachmentFilename, toTransferEncoding } from './attachment.ts';
import { type Draft, delimiterOf } from './compose-message.ts';
import { type HeaderSection, readHeaderSection, unfold } from './header-fields.ts';

/**
 * The attachments of a composed message as they are stored, in their order there. Found by its delimiters, which stand nowhere else in
 * it: reading its parts as those of a strange message would take as long as all the rest of sending a large one. Throws when
 * they are not those of the draft, which is a mistake of ours.
 */
export function listComposedAttachments(octets: Buffer, draft: Pick<Draft, 'messageId' | 'attachments'>): Attachment[] {
  const named = draft.attachments.map((attachment, place) => ({ attachment, place }));
  const listed = attachedParts(octets, delimiterOf(draft.messageId)).map((part, index) => {
    const contentId = valueOf(part.section, 'content-id');
    const at = named.findIndex(({ attachment }) => (attachment.contentId ?? '') === contentId);
    const [found] = at === -1 ? [] : named.splice(at, 1);
    if (found === undefined) throw new Error('a composed message has an attachment that its draft does not have');
    return toAttachment(part, found, index);
  });
  if (named.length > 0) throw new Error('a composed message lacks an attachment of its draft');
  return listed;
}

interface Part {
  section: HeaderSection;
  start: number;
  length: number;
}

function attachedParts(octets: Buffer, delimiter: string): Part[] {
  const parts: Part[] = [];
  for (let at = octets.indexOf(delimiter); at !== -1; ) {
    const next = octets.indexOf(delimiter, at + delimiter.length);
    const head = octets.indexOf('\r\n', at) + 2;
    const start = octets.indexOf('\r\n\r\n', head) + 4;
    // Behind a closing delimiter comes no part.
    if (next !== -1 && start > head + 4 && start <= next) {
      const section = readHeaderSection(octets.subarray(head, start));
      const isAttached = valueOf(section, 'content-disposition') !== '';
      // The line end before a delimiter is its own (RFC 2046 §5.1.1).
      if (isAttached) parts.push({ section, start, length: Math.max(0, next - 2 - start) });
    }
    at = next;
  }
  return parts;
}

function toAttachment(
  { section, start, length }: Part,
  { attachment, place }: { attachment: OutgoingAttachment; place: number },
  index: number,
): Attachment {
  const contentType = valueOf(section, 'content-type').replace(/;.*/s, '').trim().toLowerCase();
  const transferEncoding = toTransferEncoding(valueOf(section, 'content-transfer-encoding'));
  return {
    index,
    filename: attachmentFilename(attachment.filename, attachment.contentType, place),
    contentType,
    size: transferEncoding === 'base64' ? attachment.content.length : length,
    contentId: attachment.contentId,
    contentDisposition: /^inline\b/i.test(valueOf(section, 'content-disposition')) ? 'inline' : 'attachment',
    start,
    length,
    transferEncoding,
  };
}

function valueOf(section: HeaderSection, name: string): string {
  const field = section.fields.find((each) => each.name === name);
  return field === undefined ? '' : unfold(field.raw);
}
