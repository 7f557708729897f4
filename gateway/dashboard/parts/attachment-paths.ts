/** Returns the path of the preview of an attachment. */
export function previewPath(emailId: string, index: number): string {
  return `/api/e2/emails/${encodeURIComponent(emailId)}/attachments/${index}/preview`;
}

/** Returns the path of a ZIP file of all attachments of an email. */
export function archivePath(emailId: string): string {
  return `/api/e2/emails/${encodeURIComponent(emailId)}/attachments.zip`;
}

/** Returns whether the preview of a file is worth a button: an image, a text or a PDF by what its sender says. */
export function hasPreview(contentType: string, filename: string): boolean {
  return PREVIEWED_TYPE.test(contentType) || PREVIEWED_NAME.test(filename);
}

const PREVIEWED_TYPE =
  /^(?:image\/(?:png|jpe?g|gif|webp|bmp|svg\+xml)|text\/|application\/(?:pdf|json|xml|x-yaml|javascript)|message\/rfc822)/i;
const PREVIEWED_NAME =
  /\.(?:png|jpe?g|gif|webp|bmp|svg|pdf|txt|log|md|csv|tsv|json|xml|ya?ml|ics|vcf|eml|html?|css|js|ts|py|sh|sql|patch|diff|ini|conf)$/i;

/** Returns whether an attachment is an image that the HTML shows: readers do not take it for a file. As the service counts attachments. */
export function isInlineImage(
  { contentType, contentId }: { contentType: string; contentId: string | null },
  html: string | null,
): boolean {
  if (contentId === null || html === null || !/^image\//i.test(contentType)) return false;
  const id = contentId.replace(/^<|>$/g, '');
  return html.includes(`cid:${id}`) || html.includes(`cid:${encodeURIComponent(id)}`);
}
