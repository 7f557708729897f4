import { z } from 'zod';
import { invalid, type OperationContext } from '../../../operations/context.ts';
import { extractPdfText, isPdf, type NoPdfText } from '../../../operations/emails/pdf-text.ts';
import { access } from '../../admission/access.ts';
import { attachmentUri, filePart, MAX_PART_BYTES, type MailFile, useMailFile } from '../attachment-parts.ts';
import { textPart } from '../bounded-text.ts';
import { untrustedShape } from '../shapes.ts';
import { defineTool } from '../tool.ts';
import { UNTRUSTED_META } from '../tool-result.ts';
import { bodyChoice } from './email-shapes.ts';

/** Bytes of text in one result. The resource of the attachment returns more at once. */
const MAX_TEXT_BYTES = 50_000;
/** Types of images that models can see. */
const IMAGES = /^image\/(?:png|jpeg|gif|webp)$/;

export const readAttachmentTool = defineTool({
  name: 'read_attachment',
  title: 'Read an attachment',
  description:
    'Returns an attachment: text and the text of a PDF as text, an image of up to 1 MB as an image, and other files as a link to the resource and a URL to download them with the API key.',
  access: access.read,
  effect: 'reads mail',
  input: z.object({
    email_id: z.string(),
    index: z.int().min(0).meta({ description: 'From 0.' }),
    offset: bodyChoice.offset,
  }),
  output: z.object({
    kind: z.enum(['text', 'image', 'file']),
    size: z.int(),
    next_offset: z.int().nullable(),
    note: z.string().nullable().meta({ description: 'Why a PDF has no text, or not all.' }),
    uri: z.string(),
    download_url: z.string(),
    untrusted: untrustedShape({ filename: z.string(), content_type: z.string(), text: z.string().nullable() }),
  }),
  run: (context, { email_id: emailId, index, offset }, show) =>
    useMailFile(context, { emailId, choice: index }, async (file) => {
      const { filename, mimeType, bytes } = file;
      const { text, nextOffset, note } = await readText(context, file, offset);
      const isImage = text === null && IMAGES.test(mimeType) && bytes.length <= MAX_PART_BYTES;
      const uri = attachmentUri(emailId, index);
      if (isImage)
        show({ type: 'image', data: Buffer.from(bytes).toString('base64'), mimeType, _meta: UNTRUSTED_META });
      else if (text === null)
        show({ type: 'resource_link', uri, name: `attachment-${index}`, mimeType, size: bytes.length });
      return {
        kind: text !== null ? ('text' as const) : isImage ? ('image' as const) : ('file' as const),
        size: bytes.length,
        next_offset: nextOffset,
        note,
        uri,
        download_url: `${context.settings.publicUrl}/api/e2/attachments/${emailId}/parts/${index}`,
        untrusted: { filename, content_type: mimeType, text },
      };
    }),
});

interface ReadText {
  text: string | null;
  nextOffset: number | null;
  note: string | null;
}

/** Reads a part of the text of a file. Offsets are bytes in a text, and characters in the text of a PDF. */
async function readText(context: OperationContext, file: MailFile, offset: number): Promise<ReadText> {
  if (!isPdf(file)) {
    const { content, nextOffset } = filePart(file, offset, MAX_TEXT_BYTES);
    return 'text' in content ? { text: content.text, nextOffset, note: null } : NO_TEXT;
  }
  const read = await extractPdfText(file.bytes, context);
  if (typeof read === 'string') return { ...NO_TEXT, note: PDF_NOTES[read] };
  if (offset > 0 && offset >= read.text.length)
    throw invalid(`The text of the file has ${read.text.length} characters`, 'offset');
  const { text, nextOffset } = textPart(read.text, offset, MAX_TEXT_BYTES);
  return { text, nextOffset, note: read.isCut ? `The text is cut; the file has ${read.pages} pages.` : null };
}

const NO_TEXT: ReadText = { text: null, nextOffset: null, note: null };

const PDF_NOTES: Readonly<Record<NoPdfText, string>> = {
  too_large: 'This PDF is too large to read its text here. Download it.',
  unreadable: 'This PDF is damaged, or needs a password.',
  too_costly: 'Reading the text of this PDF takes too long or too much memory. Download it.',
  no_text:
    'This PDF has no text that can be read: its pages are pictures, such as scans, or its fonts do not name their characters.',
};
