import { expect, test } from 'vitest';
import { createLog } from '../../../../bin/runner/monitoring/log.ts';

function written(settings: Partial<Parameters<typeof createLog>[0]>): string {
  let text = '';
  const destination = { write: (line: string) => void (text += line) };
  const log = createLog({ logLevel: 'info', isLogLevelChosen: false, logFormat: 'auto', ...settings }, 'start', {
    destination,
  });
  log.info({ event: 'smtp.listening', address: '127.0.0.1:25' });
  log.info({ event: 'start.stopping', signal: 'SIGINT' }, 'draining');
  log.warn({ err: new Error('no route') }, 'a webhook failed');
  return text;
}

test('without a terminal the log is JSON lines with every record', () => {
  const lines = written({ logFormat: 'json' }).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 30, program: 'start', event: 'smtp.listening' },
    { level: 30, msg: 'draining' },
    { level: 40, msg: 'a webhook failed', err: { message: 'no route' } },
  ]);
});

test('a pretty log has warnings and important events, with LOG_LEVEL every record of the level', () => {
  const quiet = written({ logFormat: 'pretty' });
  expect(quiet).toMatch(/^\[\d\d:\d\d:\d\d\] .*INFO.*: .*draining/);
  expect(quiet).toMatch(/WARN.*: .*a webhook failed/);
  expect(quiet).toContain('no route');
  expect(quiet).not.toContain('smtp.listening');
  expect(written({ logFormat: 'pretty', isLogLevelChosen: true })).toMatch(/INFO.*: .*smtp\.listening/);
});
