import { Worker } from 'node:worker_threads';
import { type MailDocument, type MailToShow, makeMailDocument } from '../../core/html/mail-document.ts';

/** What goes to mail-document-worker.ts, and what comes back. */
export interface DocumentTask {
  number: number;
  mail: MailToShow;
}
export interface DocumentAnswer {
  number: number;
  document: MailDocument;
}

/** Characters; a mail of fewer is shown in a few milliseconds, its pictures too, and no thread is asked. */
const SMALL_LENGTH = 30_000;
const TIME_LIMIT_MS = 6_000;
const HEAP_LIMIT_MB = 256;
/** A thread that is asked for nothing so long ends; milliseconds. */
const IDLE_MS = 60_000;

export interface DocumentLimits {
  /** on performance.now(): nobody waits for it any more then */
  answerBy: number;
  /** for one document, from when its turn comes; milliseconds */
  timeLimitMs?: number;
}

/**
 * Makes the document of a mail, a large one in a thread of its own, where it keeps nobody else waiting: a stranger wrote it, and it may take
 * half a second of work. Null when it took longer than it may, or more memory.
 */
export async function makeDocumentAside(mail: MailToShow, limits: DocumentLimits): Promise<MailDocument | null> {
  const isSmall = (mail.html?.length ?? 0) + (mail.text?.length ?? 0) <= SMALL_LENGTH;
  if (isSmall) return makeMailDocument(mail);
  const made = turn.then(() => (performance.now() > limits.answerBy ? null : ask(mail, limits)));
  turn = made.then(
    () => undefined,
    () => undefined,
  );
  return await made;
}

/** One document is made at a time, so that a thread that has to be ended takes no other along. */
let turn: Promise<void> = Promise.resolve();
let worker: Worker | null = null;
let lastNumber = 0;
let idle: NodeJS.Timeout | undefined;

async function ask(mail: MailToShow, { timeLimitMs = TIME_LIMIT_MS }: DocumentLimits): Promise<MailDocument | null> {
  clearTimeout(idle);
  const number = ++lastNumber;
  const used = (worker ??= start());
  const { promise, resolve } = Promise.withResolvers<MailDocument | null>();
  const onAnswer = (answer: DocumentAnswer) => {
    if (answer.number === number) resolve(answer.document);
  };
  const onExit = () => resolve(null);
  const timer = setTimeout(() => void used.terminate(), timeLimitMs);
  used.on('message', onAnswer).on('exit', onExit);
  try {
    used.postMessage({ number, mail } satisfies DocumentTask);
    return await promise;
  } finally {
    clearTimeout(timer);
    used.off('message', onAnswer).off('exit', onExit);
    idle = setTimeout(() => void used.terminate(), IDLE_MS).unref();
  }
}

function start(): Worker {
  const started = new Worker(new URL('./mail-document-worker.ts', import.meta.url), {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_LIMIT_MB },
  });
  started.unref();
  // 'exit' follows.
  started.on('error', () => undefined);
  started.on('exit', () => {
    if (worker === started) worker = null;
  });
  return started;
}
