import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { releaseMemoryWhenIdle } from '../actors/work/release-memory.ts';
import type { SmtpSettings } from '../haraka-plugins/settings.ts';
import { startHaraka } from '../haraka-plugins/start.ts';
import { isWorker, startWorkers } from '../haraka-plugins/workers.ts';
import type { Config } from './config.ts';
import { readArguments, readConfigOrRefuse, refuseToStart } from './runner/command-line.ts';
import { createLog } from './runner/monitoring/log.ts';
import { openSmtpMonitoring } from './runner/monitoring/smtp-monitoring.ts';
import { traceSources } from './runner/monitoring/source-stack.ts';
import { openTracing, TRACES_FLUSH_LIMIT_MS } from './runner/monitoring/tracing.ts';
import { startWatchdog } from './runner/monitoring/watchdog.ts';
import { smtpSettings } from './runner/processes/smtp-settings.ts';

readArguments({
  usage: `Usage: npx node bin/smtp.ts

Receives mail over SMTP and passes it to the receiving actor. Passes mail that clients submit (SUBMISSION_PORT, SUBMISSIONS_PORT) to a gateway. You can run any number of processes.
Requires NATS_URL, or BUS_SOCKET from bin/start.ts.`,
});

/** Whether a parent process started this one and also stops it. */
const hasParent = process.connected === true;
/** Time to write the rest of the log, whose reader may be gone. Milliseconds. */
const FLUSH_LIMIT_MS = 1_000;
const PARENT_GONE = 'parent gone';

const config = readConfigOrRefuse();
const log = createLog(config, 'smtp', { destination: pino.destination({ sync: false }) });
traceSources();
startWatchdog('smtp');
releaseMemoryWhenIdle();
const isMaster = config.smtpProcesses > 1 && !isWorker();
const tracing = isMaster ? null : await openTracing(config, 'smtp', log);
const server = isMaster
  ? startWorkers(config.smtpProcesses, log)
  : await startHaraka(smtpSettings(config, toBus(config)), log).catch((error: unknown) =>
      refuseToStart((error as Error).message),
    );
const readiness = await openSmtpMonitoring({ config, log, server, isShownByParent: hasParent }).catch(
  (error: unknown) => refuseToStart((error as Error).message),
);

let isStopping = false;
const stop = async (reason: string): Promise<void> => {
  if (isStopping) return;
  isStopping = true;
  log.info({ event: 'smtp.stopping', reason });
  // The parent has already waited.
  await readiness.leave(hasParent ? 0 : config.drainDelaySeconds);
  await server.stop();
  if (tracing !== null) await Promise.race([tracing.close().catch(() => undefined), sleep(TRACES_FLUSH_LIMIT_MS)]);
  setTimeout(() => end(reason), FLUSH_LIMIT_MS);
  log.flush(() => end(reason));
};
/** Exits. Node can hang in its own exit, and without a parent nothing would kill it then: in that case the process kills itself. */
const end = (reason: string): void => {
  if (reason === PARENT_GONE) process.kill(process.pid, 'SIGKILL');
  else process.exit(0);
};
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));
// The parent is gone, and with it the bus and the process that would stop this one.
process.on('disconnect', () => void stop(PARENT_GONE));
if (hasParent && !process.connected) void stop(PARENT_GONE);

function toBus({ busSocket, natsUrl }: Config): SmtpSettings['bus'] {
  if (busSocket !== null) return { kind: 'socket', path: busSocket };
  if (natsUrl !== null) return { kind: 'nats', url: natsUrl };
  return refuseToStart('NATS_URL is required because bin/smtp.ts reaches the actors over NATS: see docs/operate.md');
}
