// A thread that takes a second to load, and then does what scripted-thread.ts does.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
await import('./scripted-thread.ts');
