import { serveThread } from '../../actors/work/worker-threads.ts';
import { type PdfLimits, readPdfText } from '../../core/mime/pdf-text.ts';

// The program of the thread of pdf-text.ts: reads the text of PDF files.
serveThread(({ bytes, limits }: { bytes: Uint8Array; limits: PdfLimits }) => readPdfText(bytes, limits));
