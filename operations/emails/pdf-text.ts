import { ThreadEnded, TimeLimitExceeded } from '../../actors/work/worker-threads.ts';
import type { PdfLimits, PdfText } from '../../core/mime/pdf-text.ts';
import { createRequestThread } from '../request-thread.ts';

/** Limits of one file; larger files have no text here. */
const MAX_PDF_BYTES = 10_000_000;
const LIMITS: PdfLimits = { pages: 200, chars: 1_000_000 };
const TIME_LIMIT_MS = 5_000;
const BUFFER_LIMIT_MB = 256;

const threads = createRequestThread<{ bytes: Uint8Array; limits: PdfLimits }, PdfText>({
  program: new URL('./pdf-text-worker.ts', import.meta.url),
  bufferLimitMb: BUFFER_LIMIT_MB,
  timeLimitMs: TIME_LIMIT_MS,
});

/** Why a PDF has no text. */
export type NoPdfText = 'too_large' | 'unreadable' | 'too_costly' | 'no_text';

/** Returns whether a file is a PDF. Some have other bytes before their header (ISO 32000-2 §7.5.2), as texts about PDF have. */
export function isPdf({ mimeType, bytes }: { mimeType: string; bytes: Uint8Array }): boolean {
  const at = Buffer.from(bytes.subarray(0, 1_024)).indexOf('%PDF-');
  return at === 0 || (at > 0 && mimeType === 'application/pdf');
}

/** Reads the text of a PDF in a thread, where it delays no other request and can be ended, or returns why there is none. */
export async function extractPdfText(
  bytes: Uint8Array,
  { respondBy }: { respondBy: number },
): Promise<PdfText | NoPdfText> {
  if (bytes.length > MAX_PDF_BYTES) return 'too_large';
  try {
    const read = await threads.run({ bytes, limits: LIMITS }, { startBy: respondBy });
    return read.text === '' ? 'no_text' : read;
  } catch (error) {
    // Whatever the reader throws is about the file.
    return error instanceof TimeLimitExceeded || error instanceof ThreadEnded ? 'too_costly' : 'unreadable';
  }
}
