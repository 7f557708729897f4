import { startThread } from '../work/worker-threads.ts';
import { CURRENT, PROGRESS, type WorkerSettings, type WorkItem, type WorkResult } from './parse-messages.ts';

/** A thread that runs parse-worker.ts. */
export interface ParseThread {
  /** Hands it a list of messages; onResults is called once for each list, unless the thread ends before. */
  post(items: readonly WorkItem[]): void;
  /** key of the message that it is parsing, or was when it ended; 0 when none */
  current(): number;
  /** a number that changes whenever the thread finishes something */
  progress(): number;
  /** whether it ever came up */
  isReady(): boolean;
  /** Ends it wherever it is; onEnd is not called. */
  end(): Promise<void>;
}

export interface ParseThreadEvents {
  onResults(results: WorkResult[]): void;
  /** Called once, when the thread ended without having been asked to. */
  onEnd(reason: string): void;
}

/** Of one thread's heap, in MB; a message of 15 MB takes a tenth of it. Beyond, Node ends the thread. */
const MAX_HEAP_MB = 512;

/** Starts a thread. */
export function createParseThread(program: URL, dnsServers: readonly string[], events: ParseThreadEvents): ParseThread {
  const state = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  const view = new Int32Array(state);
  let isReady = false;
  const thread = startThread({
    program,
    heapLimitMb: MAX_HEAP_MB,
    data: { dnsServers, state } satisfies WorkerSettings,
    onMessage(message) {
      // parse-worker.ts posts one of these.
      const posted = message as WorkResult[] | 'ready';
      if (posted === 'ready') isReady = true;
      else events.onResults(posted);
    },
    onEnd: (reason) => events.onEnd(reason),
  });
  return {
    post: (items) => thread.post(items),
    current: () => Atomics.load(view, CURRENT),
    progress: () => Atomics.load(view, PROGRESS),
    isReady: () => isReady,
    end: () => thread.end(),
  };
}
