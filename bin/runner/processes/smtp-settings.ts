import { defaultSmtpLimits, type SmtpSettings } from '../../../haraka-plugins/settings.ts';
import { type Config, makeFault } from '../../config.ts';

/** Returns Haraka's part of the configuration. */
export function smtpSettings(config: Config, bus: SmtpSettings['bus']): SmtpSettings {
  return {
    host: config.host,
    port: config.smtpPort,
    submissionPort: config.submissionPort,
    submissionsPort: config.submissionsPort,
    mailHostname: config.mailHostname,
    bus,
    tls: config.smtpTls,
    dataDirectory: config.dataDirectory,
    proxies: config.smtpProxies,
    door: config.door,
    limits: { ...defaultSmtpLimits, ...config.smtpLimits },
    fault: makeFault(config),
  };
}
