import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { type Service, type TestAccount, until } from '../support/servers/service.ts';

/** A service and an account of it. */
interface ClientStage {
  /** domain of senders; default: elsewhere.test */
  peer?: string;
  service: Pick<Service, 'smtpPort' | 'output'>;
  account: Pick<TestAccount, 'call'>;
}

/** Sends an email to the service over SMTP. Returns its ID once it has a thread. */
export async function receiveMail(stage: ClientStage, to: string, mail: SendMailOptions): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port: stage.service.smtpPort, ignoreTLS: true });
  const { messageId } = await transport.sendMail({
    from: `Ada <ada@${stage.peer ?? 'elsewhere.test'}>`,
    to,
    subject: 'Hello',
    ...mail,
  });
  transport.close();
  let id: string | null = null;
  await until(
    `${messageId} is threaded`,
    () => stage.service.output.slice(-2_000),
    async () => {
      const { body } = await stage.account.call('GET', '/emails?type=received&limit=100');
      const found = body.data.find((email: { message_id: string }) => email.message_id === messageId);
      id = found?.thread_id == null ? null : found.id;
      return id !== null;
    },
  );
  return id ?? '';
}

const root = path.resolve(import.meta.dirname, '../..');

/** A client from the npm registry, as pinned in the lock file. */
export interface PublishedClient {
  version: string;
  /** hash of the tarball, which `npm ci` checks */
  integrity: string;
}

/** Reads a client from the lock file and prints it. Throws if another version is installed. */
export function publishedClient(name: string): PublishedClient {
  const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string; integrity?: string }>;
  };
  const { version = '', integrity = '' } = lock.packages[`node_modules/${name}`] ?? {};
  const manifest = readFileSync(path.join(root, 'node_modules', name, 'package.json'), 'utf8');
  const installed = (JSON.parse(manifest) as { version: string }).version;
  if (installed !== version) throw new Error(`${name} ${installed} is installed, the lock file has ${version}`);
  process.stdout.write(`${name} ${version} ${integrity}\n`);
  return { version, integrity };
}
