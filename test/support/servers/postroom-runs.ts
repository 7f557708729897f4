import { type ChildProcess, spawn } from 'node:child_process';
import { repository } from '../runner.ts';

export interface Ran {
  code: number | null;
  out: string;
  error: string;
}

export interface PostroomRun {
  child: ChildProcess;
  /** stdout so far */
  printed: () => string;
  /** stderr so far */
  complained: () => string;
  ended: Promise<Ran>;
}

/** Starts `postroom` with these words. Its environment has only the settings of `environment` that it reads. */
export function startPostroom(words: string[], environment: Record<string, string>, input = ''): PostroomRun {
  const { POSTROOM_URL: _, POSTROOM_KEY: __, ...inherited } = process.env;
  const child = spawn(process.execPath, ['bin/postroom.js', ...words], {
    cwd: repository,
    env: { ...inherited, ...environment },
  });
  let [out, error] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => void (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => void (error += chunk.toString()));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const ended = new Promise<Ran>((resolve) => void child.once('close', (code) => resolve({ code, out, error })));
  return { child, printed: () => out, complained: () => error, ended };
}
