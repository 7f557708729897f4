import { z } from 'zod';
import { access } from '../../admission/access.ts';
import { attachmentUri, filePart, MAX_PART_BYTES, readMailFile } from '../attachment-parts.ts';
import { untrustedShape } from '../shapes.ts';
import { defineTool } from '../tool.ts';
import { UNTRUSTED_META } from '../tool-result.ts';

/** Bytes of text in one result. The resource of the attachment returns more at once. */
const MAX_TEXT_BYTES = 50_000;
/** Types of images that models can see. */
const IMAGES = /^image\/(?:png|jpeg|gif|webp)$/;

export const readAttachmentTool = defineTool({
  name: 'read_attachment',
  title: 'Read an attachment',
  description:
    'Returns an attachment: text as text, an image as an image of up to 1 MB. For other files it returns a link to the resource and a URL to download the file with the API key.',
  access: access.read,
  effect: 'reads mail',
  input: z.object({
    email_id: z.string().meta({ description: 'ID of the email.' }),
    index: z.int().min(0).meta({ description: 'Position of the attachment in the email, from 0.' }),
    offset: z
      .int()
      .min(0)
      .default(0)
      .meta({ description: 'Byte at which to begin in a text: `next_offset` of the last result.' }),
  }),
  output: z.object({
    kind: z.enum(['text', 'image', 'file']),
    size: z.int().meta({ description: 'Bytes of the whole file.' }),
    next_offset: z
      .int()
      .nullable()
      .meta({ description: 'Pass it as `offset` to read on. Null: the text ends here, or it is not a text.' }),
    uri: z.string().meta({ description: 'The resource of the attachment.' }),
    download_url: z.string(),
    untrusted: untrustedShape({ filename: z.string(), content_type: z.string(), text: z.string().nullable() }),
  }),
  async run(context, { email_id: emailId, index, offset }, show) {
    const file = await readMailFile(context, emailId, index);
    const { filename, mimeType, bytes } = file;
    const part = filePart(file, offset, MAX_TEXT_BYTES);
    const text = 'text' in part.content ? part.content.text : null;
    const isImage = text === null && IMAGES.test(mimeType) && bytes.length <= MAX_PART_BYTES;
    const uri = attachmentUri(emailId, index);
    if (isImage) show({ type: 'image', data: Buffer.from(bytes).toString('base64'), mimeType, _meta: UNTRUSTED_META });
    else if (text === null)
      show({ type: 'resource_link', uri, name: `attachment-${index}`, mimeType, size: bytes.length });
    return {
      kind: text !== null ? ('text' as const) : isImage ? ('image' as const) : ('file' as const),
      size: bytes.length,
      next_offset: text === null ? null : part.nextOffset,
      uri,
      download_url: `${context.settings.publicUrl}/api/e2/attachments/${emailId}/parts/${index}`,
      untrusted: { filename, content_type: mimeType, text },
    };
  },
});
