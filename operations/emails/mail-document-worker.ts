import { parentPort } from 'node:worker_threads';
import { makeMailDocument } from '../../core/html/mail-document.ts';
import type { DocumentAnswer, DocumentTask } from './mail-document-thread.ts';

/* The program of the thread of mail-document-thread.ts: makes the documents that it is asked for, one after the other. */
parentPort?.on('message', ({ number, mail }: DocumentTask) => {
  parentPort?.postMessage({ number, document: makeMailDocument(mail) } satisfies DocumentAnswer);
});
