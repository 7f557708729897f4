import { pino } from 'pino';
import type { SmtpSettings } from '../haraka-plugins/settings.ts';
import { defaultSmtpLimits } from '../haraka-plugins/settings.ts';
import { startHaraka } from '../haraka-plugins/start.ts';
import { isWorker, startWorkers } from '../haraka-plugins/workers.ts';
import { type Config, ConfigError, faultOf, processEnvironment, readConfig } from './config.ts';
import { readArguments, refuseToStart } from './runner/command-line.ts';

readArguments({
  usage:
    'node bin/smtp.ts\nTakes mail by SMTP and hands it to the receiving actor. Wants NATS_URL, or BUS_SOCKET from bin/start.ts.',
});

const config = readConfigOrRefuse();
const log = pino(
  { level: config.logLevel, base: { process: 'smtp', pid: process.pid } },
  pino.destination({ sync: false }),
);
const server =
  config.smtpProcesses > 1 && !isWorker()
    ? startWorkers(config.smtpProcesses, log)
    : await startHaraka(settingsOf(config), log).catch((error: unknown) => refuseToStart((error as Error).message));

let isStopping = false;
const stop = async (reason: string): Promise<void> => {
  if (isStopping) return;
  isStopping = true;
  log.info({ event: 'smtp.stopping', reason });
  await server.stop();
  log.flush(() => process.exit(0));
};
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));
// Whoever started us is gone: without it there is no bus and nobody to end us.
process.on('disconnect', () => void stop('parent gone'));

function settingsOf(values: Config): SmtpSettings {
  const bus = values.busSocket ?? values.natsUrl;
  if (bus === null) refuseToStart('NATS_URL is required: bin/smtp.ts reaches the actors over NATS');
  return {
    host: values.host,
    port: values.smtpPort,
    mailHostname: values.mailHostname,
    bus: values.busSocket === null ? { kind: 'nats', url: bus } : { kind: 'socket', path: bus },
    tls: values.smtpTls,
    dataDirectory: values.dataDirectory,
    limits: { ...defaultSmtpLimits, ...values.smtpLimits },
    fault: faultOf(values),
  };
}

function readConfigOrRefuse(): Config {
  try {
    return readConfig(processEnvironment());
  } catch (error) {
    if (error instanceof ConfigError) refuseToStart(error.message);
    throw error;
  }
}
