import { parentPort } from 'node:worker_threads';
import { composeForward } from '../../core/endpoints/forward.ts';
import type { ForwardAnswer, ForwardTask } from './forward-thread.ts';

/* The program of a thread of forward-thread.ts: composes the copies that it is sent. */
parentPort?.on('message', (task: ForwardTask) => {
  void compose(task).then(
    (octets) => post({ number: task.number, octets }, [octets.buffer as ArrayBuffer]),
    (error: unknown) => post({ number: task.number, error: String(error) }),
  );
});

function post(answer: ForwardAnswer, moved: ArrayBuffer[] = []): void {
  parentPort?.postMessage(answer, moved);
}

async function compose({ original, config, facts }: ForwardTask): Promise<Uint8Array> {
  const { buffer, byteOffset, byteLength } = original.octets;
  const octets = Buffer.from(buffer, byteOffset, byteLength);
  return new Uint8Array(await composeForward({ ...original, octets }, config, facts));
}
