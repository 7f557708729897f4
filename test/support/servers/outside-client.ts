import { isIP } from 'node:net';
import { SmtpClient } from './smtp-client.ts';

/** The address of the tests' proxy, for SMTP_PROXIES. */
export const TEST_PROXY = '127.0.0.9';

/** Connects as a client with another address: behind the proxy, which names it. The banner is the first reply. */
export async function connectFrom(port: number, address: string, behind = ''): Promise<SmtpClient> {
  const client = await SmtpClient.connect(port, { localAddress: TEST_PROXY });
  const [kind, own] = isIP(address) === 6 ? ['TCP6', '2001:db8::1'] : ['TCP4', '198.51.100.1'];
  client.send(`PROXY ${kind} ${address} ${own} 40000 25\r\n${behind}`);
  return client;
}

/** The same, up to EHLO. */
export async function greetFrom(port: number, address: string, helo = 'client.test'): Promise<SmtpClient> {
  const client = await connectFrom(port, address);
  await client.reply();
  await client.say(`EHLO ${helo}`);
  return client;
}
