import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ServerBuild } from '../../bin/runner/build-server.ts';
import { type Machine, makeMachine, printedKey, type Run, repository, runOn, runToEnd } from '../support/runner.ts';
import { until } from '../support/servers/service.ts';
import { smtpLoad, toWireForm } from '../support/servers/smtp-load.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';

const execute = promisify(execFile);
const readBuild = (root: string) =>
  JSON.parse(readFileSync(path.join(root, 'dist/server.json'), 'utf8')) as ServerBuild;

beforeAll(async () => {
  await execute(process.execPath, ['bin/build-server.ts'], { cwd: repository });
}, 240_000);

describe('npm start after npm ci', () => {
  let machine: Machine;
  let run: Run;

  beforeAll(async () => {
    machine = await makeMachine({ ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8' });
    run = runOn(machine, ['start'], { program: 'npm' });
    await run.written('"event":"start.ready"');
  }, 300_000);
  afterAll(() => machine.remove(), 60_000);

  const call = async (method: string, route: string, body?: object): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${machine.httpPort}${route}`, {
      method,
      headers: { authorization: `Bearer ${printedKey(run)}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect([response.status, response.ok]).toEqual([response.status, true]);
    return response.json();
  };

  test('every process of the service runs a file of the build', async () => {
    const { folder } = readBuild(repository);
    expect(run.output()).toContain('"event":"start.ready","code":"built"');
    const { stdout } = await execute('ps', ['-eo', 'args=']);
    const parts = stdout.split('\n').filter((line) => line.includes(`${folder}/bin/runner/parts/`));
    expect(parts.map((line) => /parts\/(\w+\.js)/.exec(line)?.[1])).toEqual(
      expect.arrayContaining(['gateway.js', 'mail.js']),
    );
  });

  test('mail is parsed, threaded, posted to its webhook and sanitized by built code', async () => {
    const receiver = await startWebhookReceiver({ host: '127.0.0.1' });
    try {
      const endpoint = (await call('POST', '/api/e2/endpoints', {
        name: 'built',
        type: 'webhook',
        config: { url: receiver.url },
      })) as { id: string };
      const addresses = (await call('GET', '/api/e2/email-addresses')) as { data: { id: string; address: string }[] };
      const hello = addresses.data.find(({ address }) => address === 'hello@inbox.test');
      await call('PUT', `/api/e2/email-addresses/${hello?.id}`, { endpointId: endpoint.id });
      const [result] = await smtpLoad({
        isEndingAtFailure: false,
        host: '127.0.0.1',
        port: machine.smtpPort,
        count: 1,
        sessions: 1,
        isReusingConnections: true,
        reversePath: 'sender@elsewhere.test',
        recipients: () => ['hello@inbox.test'],
        message: () =>
          toWireForm(
            Buffer.from(
              'Message-ID: <1@elsewhere.test>\r\nFrom: sender@elsewhere.test\r\nTo: hello@inbox.test\r\nSubject: Built\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p onclick="x()">Grüße</p><script>y()</script>\r\n',
            ),
          ),
      });
      expect(result?.code).toBe(250);
      await until('the webhook arrives', run.output, async () => receiver.requests.length > 0);
      const payload = JSON.parse(receiver.requests[0]?.body ?? '{}') as {
        email: { subject: string; cleanedContent: { html: string } };
      };
      expect(payload.email.subject).toBe('Built');
      expect(payload.email.cleanedContent.html).toContain('Grüße');
      expect(payload.email.cleanedContent.html).not.toMatch(/script|onclick/);
    } finally {
      await receiver.stop();
    }
  });

  test('mail sent by REST is delivered, and GraphQL and the dashboard respond', async () => {
    const sent = (await call('POST', '/api/e2/emails', {
      from: 'hello@inbox.test',
      to: 'hello@inbox.test',
      subject: 'Out',
      text: 'of the build',
    })) as { id: string };
    await until('it is delivered', run.output, async () => {
      const { status } = (await call('GET', `/api/e2/emails/${sent.id}`)) as { status: string };
      return status === 'delivered';
    });
    const found = await call('POST', '/graphql', { query: '{ emails(first: 5) { edges { node { subject } } } }' });
    expect(JSON.stringify(found)).toContain('"subject":"Out"');
    const page = await fetch(`http://127.0.0.1:${machine.httpPort}/`, { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain('<div id="app">');
  });

  test('a path with a bad percent escape gets the response to an unknown id', async () => {
    const [unknown, ...others] = await Promise.all(
      ['em_00000000000000000000000000000000', '%', '%zz', '%E0%A4%A'].map(async (id) => {
        const response = await fetch(`http://127.0.0.1:${machine.httpPort}/api/e2/emails/${id}`, {
          headers: { authorization: `Bearer ${printedKey(run)}` },
        });
        return [response.status, await response.text()];
      }),
    );
    expect(unknown?.[0]).toBe(404);
    expect(others).toEqual([unknown, unknown, unknown]);
  });
});

/** A repository of one program with a build, where each of the two says which it is. */
describe('bin/run.js', () => {
  let root = '';

  beforeEach(async () => {
    const { stdout } = await execute('mktemp', ['-d']);
    root = stdout.trim();
    mkdirSync(path.join(root, 'bin'));
    mkdirSync(path.join(root, 'dist/0123456789ab/bin'), { recursive: true });
    writeFileSync(path.join(root, 'package.json'), '{"type":"module"}');
    copyFileSync(path.join(repository, 'bin/run.js'), path.join(root, 'bin/run.js'));
    writeFileSync(path.join(root, 'bin/gateway.ts'), 'console.log("source", ...process.argv.slice(2) as string[]);\n');
    writeFileSync(
      path.join(root, 'dist/0123456789ab/bin/gateway.js'),
      'console.log("built", ...process.argv.slice(2));\n',
    );
    const file = path.join(root, 'bin/gateway.ts');
    const { size, mtimeMs } = statSync(file);
    const { stdout: sum } = await execute('sha256sum', [file]);
    const build: ServerBuild = {
      folder: 'dist/0123456789ab',
      files: { 'bin/gateway.ts': [size, mtimeMs, sum.slice(0, 64)] },
    };
    writeFileSync(path.join(root, 'dist/server.json'), JSON.stringify(build));
    return () => rmSync(root, { recursive: true });
  });

  const run = async (...words: string[]) => runToEnd([path.join(root, 'bin/run.js'), ...words]);

  test('runs the built program with its arguments', async () => {
    expect((await run('gateway', '--a', 'b')).stdout).toBe('built --a b\n');
  });

  test('runs the program whose source is named', async () => {
    expect((await run('bin/gateway.ts', '--a', 'b')).stdout).toBe('built --a b\n');
  });

  test('runs the built program of a copy, whose files have other times', async () => {
    utimesSync(path.join(root, 'bin/gateway.ts'), 1, 1);
    expect((await run('gateway')).stdout).toBe('built\n');
  });

  test('runs the source after it was edited, also to the same length', async () => {
    const file = path.join(root, 'bin/gateway.ts');
    writeFileSync(file, readFileSync(file, 'utf8').replace('source', 'edited'));
    expect((await run('gateway', '--a', 'b')).stdout).toBe('edited --a b\n');
  });

  test('runs the source when a file of the build is gone', async () => {
    writeFileSync(path.join(root, 'bin/other.ts'), '');
    const build = readBuild(root);
    build.files['bin/removed.ts'] = [0, 0, ''];
    writeFileSync(path.join(root, 'dist/server.json'), JSON.stringify(build));
    expect((await run('gateway')).stdout).toBe('source\n');
  });

  test.each([
    ['the build was never made', () => rmSync(path.join(root, 'dist'), { recursive: true })],
    ['the folder of the build is gone', () => rmSync(path.join(root, 'dist/0123456789ab'), { recursive: true })],
    ['the list of files is cut off', () => writeFileSync(path.join(root, 'dist/server.json'), '{"folder":')],
  ])('runs the source when %s', async (_, damage) => {
    damage();
    expect((await run('gateway')).stdout).toBe('source\n');
  });

  test.each([[[]], [['nothing']], [['../bin/gateway']], [['bin/../gateway.ts']]])(
    'refuses %j, which is no program',
    async (words) => {
      expect(await run(...words)).toMatchObject({
        status: 2,
        stderr: expect.stringMatching(/^Usage: node bin\/run\.js/),
      });
    },
  );
});

test('an error in built code is logged with the file, line and column of its source', async () => {
  const logFailure = async (...words: string[]): Promise<string> => {
    const environment = { DATA_DIR: path.join(repository, 'package.json', 'data'), LOG_FORMAT: 'json' };
    return (await runToEnd(words, environment)).stdout;
  };
  const [built, source] = [
    await logFailure('bin/run.js', 'start'),
    await logFailure(path.join(repository, 'bin/start.ts')),
  ];
  const frames = (log: string) => log.match(/file:\/\/\S+?:\d+:\d+/g);
  expect(frames(source)).toContainEqual(expect.stringMatching(/db\/cluster\/data-directory\.ts:\d+:\d+$/));
  expect(frames(built)).toEqual(frames(source));
});
