/** Returns whether an attachment is an image that the HTML shows: readers do not take it for a file. As the service counts attachments. */
export function isInlineImage(
  { contentType, contentId }: { contentType: string; contentId: string | null },
  html: string | null,
): boolean {
  if (contentId === null || html === null || !/^image\//i.test(contentType)) return false;
  const id = contentId.replace(/^<|>$/g, '');
  return html.includes(`cid:${id}`) || html.includes(`cid:${encodeURIComponent(id)}`);
}
