import { type ChildProcess, fork, spawn } from 'node:child_process';

/** Starts a script of this folder and awaits one answer per order. */
export class BenchChild {
  readonly #child: ChildProcess;

  constructor(script: string) {
    this.#child = fork(new URL(script, import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  }

  /** 0 when it did not start */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  answer<T>(): Promise<T> {
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null) => reject(new Error(`${this.#child.spawnargs[1]} ended with ${code}`));
      this.#child.once('exit', onExit);
      this.#child.once('message', (message) => {
        this.#child.off('exit', onExit);
        resolve(message as T);
      });
    });
  }

  ask<T>(order: object): Promise<T> {
    const answer = this.answer<T>();
    this.#child.send(order);
    return answer;
  }

  stop(): void {
    this.#child.disconnect();
  }
}

/** Starts a server in its own process group and answers when its output shows the text. */
export async function startServer(
  command: string,
  args: string[],
  environment: Record<string, string>,
  readyText: string | RegExp,
): Promise<{ child: ChildProcess; output: () => string; stop(): Promise<void> }> {
  const child = spawn(command, args, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const isReady = () => (typeof readyText === 'string' ? output.includes(readyText) : readyText.test(output));
  await new Promise<void>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      if (output.length < 1_000_000) output += chunk.toString();
      if (isReady()) resolve();
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.once('exit', (code) =>
      reject(new Error(`${command} ${args.join(' ')} ended with ${code}: ${output.slice(-2000)}`)),
    );
    setTimeout(() => reject(new Error(`${command} not ready in 60 s: ${output.slice(-2000)}`)), 60_000).unref();
  });
  return {
    child,
    output: () => output,
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}
