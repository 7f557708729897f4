import { serveThread } from '../../actors/work/worker-threads.ts';
import { forwardBodies } from '../../core/sending/forwarded-content.ts';
import type { ForwardParts } from './forward-bodies.ts';

// The program of the thread of forward-bodies.ts: makes the bodies of forwards.
serveThread(({ mail, note }: ForwardParts) => forwardBodies(mail, note));
