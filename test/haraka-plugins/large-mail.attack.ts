import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { processTree } from '../support/servers/process-tree.ts';
import { type DomainAccount, Service } from '../support/servers/service.ts';
import { SmtpClient, toData } from '../support/servers/smtp-client.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { waitFor } from '../support/wait-for.ts';
import { SmtpServer } from './smtp-server.ts';

/** The most memory that a process may ever have under these attacks. Bytes. */
const MAX_MEMORY = 600 * 1_024 * 1_024;
const MB = 1_000_000;
const LARGE_BYTES = 10 * MB;
/** How long a small mail of another account waits for its 250 at most, on a machine that does other work besides. Milliseconds. */
const SMALL_LIMIT_MS = 5_000;

/** Returns the most memory that a process has had since it was told to forget, in bytes (proc(5)). */
async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1_024;
}

const forgetPeak = (pid: number) => writeFile(`/proc/${pid}/clear_refs`, '5');

const kinds: Record<string, (bytes: number) => string> = {
  text: (bytes) => `Content-Type: text/plain\r\n\r\n${'A line with some words in it\r\n'.repeat(bytes / 30)}`,
  html: (bytes) => `Content-Type: text/html\r\n\r\n${'<p>A <b>line</b> with words</p>\r\n'.repeat(bytes / 33)}`,
  file: (bytes) =>
    `Content-Type: application/pdf\r\nContent-Disposition: attachment; filename="a.pdf"\r\nContent-Transfer-Encoding: base64\r\n\r\n` +
    `${randomBytes(bytes * 0.73)
      .toString('base64')
      .replaceAll(/.{76}/g, '$&\r\n')}\r\n`,
};

function makeMessage(kind: string, name: string, bytes = LARGE_BYTES): Buffer {
  const head = `From: ada@elsewhere.test\r\nMessage-ID: <${name}@elsewhere.test>\r\nSubject: ${name}\r\nMIME-Version: 1.0\r\n`;
  return Buffer.from(head + (kinds[kind]?.(bytes) ?? ''));
}

async function send(port: number, recipient: string, data: Buffer): Promise<string> {
  const client = await SmtpClient.greet(port);
  try {
    await client.say('MAIL FROM:<ada@elsewhere.test>');
    await client.say(`RCPT TO:<${recipient}>`);
    const go = await client.say('DATA');
    return go.code === 354 ? await sendData(client, data) : go.text;
  } finally {
    client.destroy();
  }
}

async function sendData(client: SmtpClient, data: Buffer): Promise<string> {
  client.send(data);
  return (await client.reply()).text;
}

describe('many large mails at once', () => {
  let service: Service;
  let receiver: WebhookReceiver;
  let mailPid = 0;
  let large: DomainAccount;
  let small: DomainAccount;
  let recipient = '';
  let other = '';
  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    service = await Service.start('single');
    mailPid =
      processTree(service.processes.get('runner')?.pid ?? 0).find(({ command }) => command.includes('parts/mail'))
        ?.pid ?? 0;
    large = await service.createAccount();
    small = await service.createAccount();
    const endpoint = await large.call('POST', '/endpoints', {
      name: 'program',
      type: 'webhook',
      config: { url: receiver.url },
    });
    recipient = `large@${large.domain}`;
    other = `small@${small.domain}`;
    for (const [account, address, endpointId] of [
      [large, recipient, endpoint.body.id],
      [small, other, null],
    ] as const) {
      const made = await account.call('POST', '/email-addresses', {
        address,
        domainId: account.domainId,
        ...(endpointId === null ? {} : { endpointId }),
      });
      expect(made.status).toBe(201);
    }
  });
  afterAll(async () => {
    await service?.stop();
    await receiver?.stop();
  });

  test.each([
    [12, 'text'],
    [12, 'html'],
    [12, 'file'],
    [30, 'file'],
  ])(
    '%i mails of 10 MB with %s leave the mail process below 600 MiB, and none that got its 250 is lost',
    async (count, kind) => {
      const names = Array.from({ length: count }, (_, n) => `large-${kind}-${count}-${n}`);
      const data = names.map((name) => toData(makeMessage(kind, name)));
      await forgetPeak(mailPid);
      let isOver = false;
      const waits: number[] = [];
      const smallReplies = new Set<string>();
      const probing = (async () => {
        for (let n = 0; !isOver; n++) {
          const since = performance.now();
          const reply = await send(
            service.smtpPort,
            other,
            toData(Buffer.from(`Message-ID: <${kind}-${count}-${n}@elsewhere.test>\r\nSubject: small\r\n\r\nhi\r\n`)),
          );
          waits.push(performance.now() - since);
          smallReplies.add(reply.slice(0, 9));
          await sleep(100);
        }
      })();
      const replies = await Promise.all(data.map((bytes) => send(service.smtpPort, recipient, bytes)));
      for (const reply of replies) expect(reply).toMatch(/^(250 2\.0\.0|452 4\.3\.1) /);
      const accepted = names.filter((_, at) => replies[at]?.startsWith('250'));
      expect(accepted.length).toBeGreaterThan(0);
      await waitFor(() => {
        const posted = receiver.requests.flatMap(({ body }) => /"subject":"(large-[^"]+)"/.exec(body)?.[1] ?? []);
        expect(accepted.filter((name) => !posted.includes(name))).toEqual([]);
      });
      isOver = true;
      await probing;
      expect([...smallReplies]).toEqual(['250 2.0.0']);
      const slow = waits.filter((ms) => ms > SMALL_LIMIT_MS);
      expect(slow.length, `${waits.length} small mails waited up to ${Math.max(...waits).toFixed(0)} ms`).toBe(0);
      const peak = await peakMemory(mailPid);
      expect(peak, `${Math.round(peak / 1_024 / 1_024)} MiB`).toBeLessThan(MAX_MEMORY);
    },
  );
});

describe('large mails on the disk', () => {
  let server: SmtpServer;
  beforeAll(async () => {
    server = await SmtpServer.start();
  });
  afterAll(() => server?.stop());

  test('100 clients that stop in the middle of mails of 5 MB take little memory, and large mail of another is stored', async () => {
    const pid = server.child.pid ?? 0;
    const half = makeMessage('text', 'half', 5 * MB);
    await forgetPeak(pid);
    const before = await peakMemory(pid);
    const clients = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const client = await SmtpClient.greet(server.port);
        await client.begin();
        return client;
      }),
    );
    for (const client of clients) client.send(half);
    const sent = makeMessage('text', 'whole', LARGE_BYTES);
    // While a hundred begin at the same time, the disk may be behind.
    await waitFor(async () => expect(await send(server.port, 'box@a.test', toData(sent))).toMatch(/^250 /));
    expect(server.messages.at(-1)?.bytes.equals(sent)).toBe(true);
    const grownMb = ((await peakMemory(pid)) - before) / MB;
    // Of the 500 MB that were sent: 96 MB of heldBytes, twice that with garbage, and the whole mail.
    expect(grownMb).toBeLessThan(300);
    for (const client of clients) client.destroy();
  });

  test('a large mail that gets no turn within 25 s is deferred with 452, while small mail and the next large one get 250', async () => {
    const { message } = server.script;
    let isHolding = true;
    server.script.message = async (request, bytes) => {
      if (bytes.length < MB) return message(request, bytes);
      await waitFor(() => expect(isHolding).toBe(false));
      return message(request, bytes);
    };
    const data = toData(makeMessage('text', 'held', 14 * MB));
    const [first, second] = [send(server.port, 'box@a.test', data), send(server.port, 'box@b.test', data)];
    await sleep(1_000);
    expect(await send(server.port, 'box@c.test', toData(Buffer.from('Subject: x\r\n\r\nx\r\n')))).toMatch(/^250 /);
    const busy = '452 4.3.1 Too many large messages in progress, please try again later';
    expect(await Promise.race([first, second])).toBe(busy);
    isHolding = false;
    expect((await Promise.all([first, second])).toSorted()).toEqual([expect.stringMatching(/^250 /), busy]);
    server.script.message = message;
    expect(await send(server.port, 'box@a.test', data)).toMatch(/^250 /);
  });
});
