import { serveThread } from '../../actors/work/worker-threads.ts';
import { makeMailDocument } from '../../core/html/mail-document.ts';

// The program of the thread of mail-document-thread.ts: makes the documents of mail.
serveThread(makeMailDocument);
