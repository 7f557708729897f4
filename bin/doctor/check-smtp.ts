import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { DAY_MS } from '../../core/shared/durations.ts';
import { type Config, connectableHost } from '../config.ts';
import { isWithin } from '../runner/environment-values.ts';
import { isTrial } from './check-configuration.ts';
import { describeError, type Finding, toFindings } from './finding.ts';
import { type SmtpDialogue, speakSmtp } from './smtp-dialogue.ts';

const { ok, warn, fail, skip } = toFindings('SMTP');

/** A domain without addresses (RFC 6761 §6.4). */
const UNKNOWN_RECIPIENT = 'doctor@nobody.invalid';
const FEW_DAYS = 14;

/**
 * Talks to our own SMTP server like a sender, up to a recipient that must be refused, because that reply comes from the receiving actor.
 */
export async function checkSmtp(config: Config, now: Date): Promise<Finding[]> {
  const host = connectableHost(config.host);
  let dialogue: SmtpDialogue;
  try {
    dialogue = await speakSmtp({
      host,
      port: config.smtpPort,
      serverName: config.mailHostname,
      isProxied: isWithin(config.smtpProxies, host),
      recipient: UNKNOWN_RECIPIENT,
    });
  } catch (error) {
    return [
      fail(
        'listener',
        `${host}:${config.smtpPort}: ${describeError(error)}`,
        config.databaseUrl === null
          ? 'Start the service (npm start). If its HTTP port responds, its mail process is being restarted: look for part.died in the log'
          : 'Start npx node bin/smtp.ts, or set HOST and SMTP_PORT to its address',
      ),
    ];
  }
  const greeted = dialogue.banner.split(' ')[1] ?? '';
  return [
    ok('listener', `${host}:${config.smtpPort} responds`),
    greeted.toLowerCase() === config.mailHostname
      ? ok('greeting', `greets as ${greeted}`)
      : fail(
          'greeting',
          `greets as ${greeted}, but MAIL_HOSTNAME is ${config.mailHostname}`,
          'Restart SMTP with the same MAIL_HOSTNAME. If another program uses the port, stop it or change SMTP_PORT',
        ),
    judgeVerdict(dialogue.recipient ?? ''),
    ...(await checkTls(config, dialogue, now)),
  ];
}

function judgeVerdict(reply: string): Finding {
  if (reply.startsWith('550')) return ok('verdict', 'an unknown recipient is refused');
  if (reply.startsWith('452'))
    return fail(
      'verdict',
      `mail is refused: ${reply}`,
      'Free space on the disk of DATA_DIR. SMTP then recovers automatically',
    );
  if (reply.startsWith('4'))
    return fail(
      'verdict',
      `mail is deferred: ${reply}`,
      'The receiving actor or PostgreSQL does not respond. Read their logs',
    );
  return fail(
    'verdict',
    `an unknown recipient gets "${reply}"`,
    'Another program may be using the port. Stop it or change SMTP_PORT',
  );
}

async function checkTls(config: Config, { keywords, tls }: SmtpDialogue, now: Date): Promise<Finding[]> {
  if (tls === null || !keywords.includes('STARTTLS'))
    return [fail('STARTTLS', 'is not offered', 'Check SMTP_TLS_CERT_FILE and SMTP_TLS_KEY_FILE and restart SMTP')];
  const offered = ok('STARTTLS', tls.protocol ?? 'offered');
  const { certificate } = tls;
  if (certificate === null) return [offered, fail('certificate', 'none was presented', 'Set SMTP_TLS_CERT_FILE')];
  if (config.smtpTls === null)
    return [
      offered,
      isTrial(config)
        ? skip('certificate', 'of our own making')
        : warn(
            'certificate',
            'self-signed: servers that require a valid one (MTA-STS) will not deliver',
            `Get one for ${config.mailHostname}, for example with certbot, and set SMTP_TLS_CERT_FILE and SMTP_TLS_KEY_FILE`,
          ),
    ];
  return [offered, ...(await judgeCertificate(config.smtpTls.certPath, { config, tls, certificate, now }))];
}

async function judgeCertificate(
  file: string,
  shown: { config: Config; tls: NonNullable<SmtpDialogue['tls']>; certificate: X509Certificate; now: Date },
): Promise<Finding[]> {
  const { config, tls, certificate, now } = shown;
  const findings: Finding[] = [];
  const days = Math.floor((Date.parse(certificate.validTo) - now.getTime()) / DAY_MS);
  const renew = 'Renew it. SMTP loads the new files automatically';
  if (days < 0) findings.push(fail('certificate', `expired ${-days} days ago, on ${certificate.validTo}`, renew));
  else if (days < FEW_DAYS)
    findings.push(warn('certificate', `expires in ${days} days, on ${certificate.validTo}`, renew));
  else findings.push(ok('certificate', `expires in ${days} days`));
  if (certificate.checkHost(config.mailHostname) === undefined)
    findings.push(
      fail(
        'name',
        `is for ${certificate.subjectAltName ?? certificate.subject}, not for ${config.mailHostname}`,
        `Get one for ${config.mailHostname}`,
      ),
    );
  else findings.push(ok('name', `is for ${config.mailHostname}`));
  if (tls.isTrusted)
    findings.push(ok('chain', `signed by ${(certificate.issuer.split('\n').at(-1) ?? '').replace(/^\w+=/, '')}`));
  else if (days >= 0 && certificate.checkHost(config.mailHostname) !== undefined)
    findings.push(
      warn(
        'chain',
        `other servers do not trust it: ${tls.reason ?? 'unknown issuer'}`,
        'Put the whole chain (fullchain.pem) into SMTP_TLS_CERT_FILE, or use a certificate of a public authority',
      ),
    );
  const onDisk = await readFile(file).then(
    (pem) => new X509Certificate(pem),
    () => null,
  );
  if (onDisk === null)
    findings.push(fail('file', `${file} cannot be read as a certificate`, 'Restore the file before SMTP restarts'));
  else if (onDisk.fingerprint256 !== certificate.fingerprint256)
    findings.push(
      warn(
        'file',
        `${file} differs from the certificate that SMTP presents`,
        'SMTP loads it within a minute. If not, read the log of SMTP',
      ),
    );
  return findings;
}
