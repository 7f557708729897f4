import { readThreadMs } from '../work/thread-time.ts';
import { startThread } from '../work/worker-threads.ts';
import {
  CURRENT,
  IS_ASIDE,
  PROGRESS,
  THREAD_NUMBER,
  type WorkerSettings,
  type WorkItem,
  type WorkResult,
} from './parse-messages.ts';

/** A thread that runs parse-worker.ts. */
export interface ParseThread {
  /** Gives it messages; onResult is called for each, unless the thread ends before. */
  post(items: readonly WorkItem[]): void;
  /** key of the message that it is, or was last, parsing; 0 when there is none */
  current(): number;
  /** a number that changes whenever the thread finishes a step */
  progress(): number;
  /** Has it begin no further message. */
  stopAfterCurrent(): void;
  /** whether it ever came up */
  isReady(): boolean;
  /** Returns the bytes that it holds, in its heap and in buffers; see Thread.measureMemory. */
  measureBytes(): Promise<number>;
  /** Returns the processor time that it has used; milliseconds. Within a long step of C++, only Linux tells it at once. */
  measureProcessor(): Promise<number>;
  /** Terminates the thread at once; onEnd is not called. */
  end(): Promise<void>;
}

interface ParseThreadEvents {
  onResult(result: WorkResult): void;
  /** Called once if the thread ended by itself. */
  onEnd(reason: string): void;
}

/** Heap limit of one thread in MB; a message of 15 MB takes a tenth of it. Node ends a thread that exceeds it. */
const MAX_HEAP_MB = 512;

/** Starts a thread that parses messages one by one. */
export function createParseThread(
  {
    program,
    dnsServers,
    youngGenerationMb,
  }: { program: URL; dnsServers: readonly string[]; youngGenerationMb: number | undefined },
  events: ParseThreadEvents,
): ParseThread {
  const state = new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT);
  const view = new Int32Array(state);
  let isReady = false;
  const thread = startThread({
    program,
    heapLimitMb: MAX_HEAP_MB,
    ...(youngGenerationMb === undefined ? {} : { youngGenerationMb }),
    data: { dnsServers, state } satisfies WorkerSettings,
    onMessage(message) {
      // parse-worker.ts posts these.
      const posted = message as WorkResult | 'ready';
      if (posted === 'ready') isReady = true;
      else events.onResult(posted);
    },
    onEnd: (reason) => events.onEnd(reason),
  });
  return {
    // A view would take along the whole memory that it is of, copied twice. Another thread may need the bytes, too.
    post(items) {
      const own = items.map((item) => ({ ...item, bytes: new Uint8Array(item.bytes) }));
      thread.post(
        own,
        own.map(({ bytes }) => bytes.buffer),
      );
    },
    current: () => Atomics.load(view, CURRENT),
    progress: () => Atomics.load(view, PROGRESS),
    stopAfterCurrent: () => void Atomics.store(view, IS_ASIDE, 1),
    isReady: () => isReady,
    measureProcessor: async () => readThreadMs(Atomics.load(view, THREAD_NUMBER)) ?? thread.measureProcessor(),
    async measureBytes() {
      const { heap, buffers } = await thread.measureMemory();
      return heap + buffers;
    },
    end: () => thread.end(),
  };
}
