import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

/** A shell that is open as long as a reader of a guide would have it: variables and functions stay from one example to the next. */
export interface ShellSession {
  /** Runs an example to its end; returns what it printed. Throws when its last command fails. */
  run(example: string): Promise<string>;
  /** Starts an example that goes on, in a shell of its own. */
  follow(example: string): { printed: () => string; end: () => Promise<void> };
  end(): Promise<void>;
}

export function openShell(directory: string, environment: Record<string, string>): ShellSession {
  const env = { ...process.env, ...environment };
  const shell = spawn('bash', ['--noprofile', '--norc'], { cwd: directory, env, stdio: ['pipe', 'pipe', 'pipe'] });
  let printed = '';
  let complaints = '';
  let wake: () => void = () => undefined;
  shell.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    wake();
  });
  shell.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  const exited = once(shell, 'exit').then(() => wake());

  return {
    async run(example) {
      const mark = randomUUID();
      printed = '';
      shell.stdin.write(`${example}\nprintf '\\n%s %d\\n' ${mark} $?\n`);
      const end = new RegExp(`\\n${mark} (\\d+)\\n`);
      while (!end.test(printed)) {
        if (shell.exitCode !== null)
          throw new Error(`the shell ended: ${example}\n${printed.slice(-2_000)}\n${complaints.slice(-2_000)}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const [tail = '', status] = end.exec(printed) ?? [];
      if (status !== '0') throw new Error(`status ${status}: ${example}\n${complaints}`);
      return printed.slice(0, -tail.length);
    },
    follow(example) {
      // The shell gives way to the command, so that ending the child ends it.
      const child = spawn('bash', ['-c', `exec ${example.trim()}`], { cwd: directory, env });
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      const over = once(child, 'exit');
      return {
        printed: () => text,
        async end() {
          child.kill();
          await over;
        },
      };
    },
    async end() {
      shell.stdin.end();
      await exited;
    },
  };
}
