import { serveThread } from '../../actors/work/worker-threads.ts';
import { composeBodies } from '../../core/sending/forwarded-content.ts';

// The program of the thread of forward-bodies.ts: makes bodies that contain another email.
serveThread(composeBodies);
