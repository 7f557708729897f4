import { composeForward } from '../../core/endpoints/forward.ts';
import { serveThread } from '../work/worker-threads.ts';
import type { ForwardWork } from './forward-thread.ts';

// The worker program of forward-thread.ts: composes copies.
serveThread(compose, (bytes) => [bytes.buffer as ArrayBuffer]);

async function compose({ original, config, facts }: ForwardWork): Promise<Uint8Array> {
  const { buffer, byteOffset, byteLength } = original.bytes;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  return new Uint8Array(await composeForward({ ...original, bytes }, config, facts));
}
