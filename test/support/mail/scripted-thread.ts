import { serveThread } from '../../../actors/work/worker-threads.ts';

// A thread that does what its task says: `echo TEXT`, `throw TEXT`, `environment`, `hang`, `exit` or `fill`.
serveThread((task: string): string => {
  const [verb = '', text = ''] = task.split(' ');
  switch (verb) {
    case 'echo':
      return text;
    case 'environment':
      return JSON.stringify(process.env);
    case 'hang':
      for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    case 'exit':
      return process.exit(1);
    case 'fill': {
      const kept: string[][] = [];
      for (;;) kept.push(Array.from({ length: 100_000 }, (_, n) => `${n} ${text}`));
    }
    default:
      throw new Error(text);
  }
});
