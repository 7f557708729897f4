import { getDocumentProxy } from 'unpdf';

/** Limits of the text of a PDF. */
export interface PdfLimits {
  pages: number;
  /** UTF-16 code units */
  chars: number;
}

/** The text of a PDF: that of its pages in order, with an empty line between them. */
export interface PdfText {
  text: string;
  /** of the whole file */
  pages: number;
  /** whether a limit cut the text */
  isCut: boolean;
}

/**
 * Returns the text of a PDF (ISO 32000-2); empty when its pages are pictures, or when its fonts have neither embedded characters nor a
 * `ToUnicode` map. It loads nothing and runs no script of the file. The file is
 * hostile input: call it in a thread that can be ended. Throws when the file is damaged or needs a password.
 */
export async function readPdfText(bytes: Uint8Array, limits: PdfLimits): Promise<PdfText> {
  const document = await getDocumentProxy(new Uint8Array(bytes), {
    // Only errors, which are thrown as well.
    verbosity: 0,
    useSystemFonts: false,
    disableFontFace: true,
    stopAtErrors: false,
  });
  const last = Math.min(document.numPages, limits.pages);
  const pages: string[] = [];
  let length = 0;
  for (let number = 1; number <= last && length <= limits.chars; number++) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    let text = '';
    for (const item of items) if ('str' in item) text += item.hasEOL ? `${item.str}\n` : item.str;
    pages.push(text.trim());
    length += text.length + 2;
    page.cleanup();
  }
  const text = pages.join('\n\n').trim();
  const isCut = text.length > limits.chars || pages.length < document.numPages;
  return { text: text.slice(0, limits.chars).toWellFormed(), pages: document.numPages, isCut };
}
