import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { freePort } from '../support/cluster/cluster.ts';
import { mountSmallDisk, type SmallDisk, smallDiskRefusal } from '../support/servers/small-disk.ts';
import { SmtpClient, toData } from '../support/servers/smtp-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { SmtpServer } from './smtp-server.ts';

const LARGE = makeMessage('large', 3_000_000);
const SMALL = makeMessage('small', 100);

function makeMessage(name: string, bytes: number): Buffer {
  const head = `From: ada@elsewhere.test\r\nMessage-ID: <${name}@elsewhere.test>\r\nSubject: ${name}\r\n\r\n`;
  return Buffer.from(head + 'A line with some words in it\r\n'.repeat(Math.ceil(bytes / 30)));
}

let server: SmtpServer;
let disk: SmallDisk | null = null;
afterEach(async () => {
  await server?.stop();
  await disk?.remove();
  disk = null;
});

async function deliver(message: Buffer): Promise<string> {
  const client = await SmtpClient.greet(server.port);
  try {
    await client.begin();
    client.send(toData(message));
    return (await client.reply()).text;
  } finally {
    client.destroy();
  }
}

const DEFERRED = '452 4.3.1 Insufficient system storage';

test('large mail is deferred with 452 while a file is where the spool directory was, and small mail is accepted', async () => {
  server = await SmtpServer.start();
  const spool = path.join(server.directory, 'spool');
  expect(await deliver(LARGE)).toMatch(/^250 /);
  await rm(spool, { recursive: true });
  await writeFile(spool, '');
  expect(await deliver(LARGE)).toBe(DEFERRED);
  expect(await deliver(SMALL)).toMatch(/^250 /);
  await rm(spool);
  await mkdir(spool);
  expect(await deliver(LARGE)).toMatch(/^250 /);
  expect(server.messages.filter(({ bytes }) => bytes.equals(LARGE))).toHaveLength(2);
});

test('large mail is accepted after another program has removed the spool directory', async () => {
  server = await SmtpServer.start();
  const spool = path.join(server.directory, 'spool');
  await rm(spool, { recursive: true });
  expect(await deliver(LARGE)).toMatch(/^250 /);
  expect(server.messages.at(-1)?.bytes.equals(LARGE)).toBe(true);
  expect(await readdir(spool)).toEqual([]);
});

test('large mail stays in memory when the spool directory cannot be created, and is stored as sent', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-smtp-'));
  await writeFile(path.join(directory, 'spool'), '');
  server = new SmtpServer(await freePort(), directory, {});
  await server.openBus();
  await server.awaitBanner();
  expect(server.output).toContain('"event":"smtp.no-spool"');
  expect(await deliver(LARGE)).toMatch(/^250 /);
  expect(server.messages.at(-1)?.bytes.equals(LARGE)).toBe(true);
});

const refusal = await smallDiskRefusal();
test.skipIf(refusal !== null)(
  `large mail is deferred with 452 while the disk of the spool is full, and small mail is accepted${refusal === null ? '' : ` (skipped: ${refusal})`}`,
  async () => {
    disk = await mountSmallDisk(32);
    server = await SmtpServer.start({ DATA_DIR: disk.directory });
    expect(await deliver(LARGE)).toMatch(/^250 /);
    await disk.fill();
    // The disk is looked at once in a second: the first may meet the full disk itself.
    for (let n = 0; n < 3; n++)
      expect(await deliver(LARGE)).toMatch(/^452 4\.3\.1 (?:Insufficient system storage|Too many large messages)/);
    expect(await deliver(SMALL)).toMatch(/^250 /);
    await disk.free();
    await waitFor(async () => expect(await deliver(LARGE)).toMatch(/^250 /));
    expect(server.messages.filter(({ bytes }) => bytes.equals(LARGE))).toHaveLength(2);
    expect(await readdir(path.join(disk.directory, 'spool'))).toEqual([]);
  },
);
