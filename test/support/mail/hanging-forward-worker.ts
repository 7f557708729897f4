import { parentPort } from 'node:worker_threads';
import type { ForwardWork } from '../../../actors/delivery/forward-thread.ts';
import '../../../actors/delivery/forward-worker.ts';
import { HANG_FIELD } from './hang-field.ts';

// The thread that composes copies, but it stops forever at a message with HANG_FIELD, before it can post the copy.

parentPort?.on('message', ({ input: { original } }: { input: ForwardWork }) => {
  const { buffer, byteOffset, byteLength } = original.bytes;
  const isHanging = Buffer.from(buffer, byteOffset, byteLength).includes(HANG_FIELD);
  while (isHanging) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
});
