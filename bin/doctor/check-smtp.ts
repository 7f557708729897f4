import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Config, connectableHost } from '../config.ts';
import { isWithin } from '../runner/environment-values.ts';
import { isTrial } from './check-configuration.ts';
import { type Finding, findingsOf, wordsOf } from './finding.ts';
import { type SmtpDialogue, speakSmtp } from './smtp-dialogue.ts';

const { ok, warn, fail, skip } = findingsOf('SMTP');

/** Nobody has an address there (RFC 6761 §6.4). */
const NOBODY = 'doctor@nobody.invalid';
const FEW_DAYS = 14;
const DAY_MS = 86_400_000;

/** Talks to our own SMTP as a sender would, up to a recipient that must be refused: the answer is the receiving actor's. */
export async function checkSmtp(config: Config, now: Date): Promise<Finding[]> {
  const host = connectableHost(config.host);
  let dialogue: SmtpDialogue;
  try {
    dialogue = await speakSmtp({
      host,
      port: config.smtpPort,
      serverName: config.mailHostname,
      isProxied: isWithin(config.smtpProxies, host),
      recipient: NOBODY,
    });
  } catch (error) {
    return [
      fail(
        'listener',
        `${host}:${config.smtpPort}: ${wordsOf(error)}`,
        config.databaseUrl === null
          ? 'Start the service (npm start)'
          : 'Start npx node bin/smtp.ts, or set HOST and SMTP_PORT to where it is',
      ),
    ];
  }
  const greeted = dialogue.banner.split(' ')[1] ?? '';
  return [
    ok('listener', `${host}:${config.smtpPort} answers`),
    greeted.toLowerCase() === config.mailHostname
      ? ok('greeting', `calls itself ${greeted}`)
      : fail(
          'greeting',
          `calls itself ${greeted}, and MAIL_HOSTNAME is ${config.mailHostname}`,
          'Start SMTP anew with the same MAIL_HOSTNAME; if another program has the port, end it or change SMTP_PORT',
        ),
    judgeVerdict(dialogue.recipient ?? ''),
    ...(await checkTls(config, dialogue, now)),
  ];
}

function judgeVerdict(reply: string): Finding {
  if (reply.startsWith('550')) return ok('verdict', 'a recipient that nobody has is refused');
  if (reply.startsWith('452'))
    return fail('verdict', `no mail is taken: ${reply}`, 'Free space on the disk of DATA_DIR; it goes on by itself');
  if (reply.startsWith('4'))
    return fail(
      'verdict',
      `mail is put off: ${reply}`,
      'The receiving actor or PostgreSQL does not answer; read their logs',
    );
  return fail(
    'verdict',
    `a recipient that nobody has gets "${reply}"`,
    'Another program may have the port: end it, or change SMTP_PORT',
  );
}

async function checkTls(config: Config, { keywords, tls }: SmtpDialogue, now: Date): Promise<Finding[]> {
  if (tls === null || !keywords.includes('STARTTLS'))
    return [
      fail('STARTTLS', 'is not offered', 'Look at SMTP_TLS_CERT_FILE and SMTP_TLS_KEY_FILE, and start SMTP anew'),
    ];
  const offered = ok('STARTTLS', tls.protocol ?? 'offered');
  const { certificate } = tls;
  if (certificate === null) return [offered, fail('certificate', 'none was shown', 'Set SMTP_TLS_CERT_FILE')];
  if (config.smtpTls === null)
    return [
      offered,
      isTrial(config)
        ? skip('certificate', 'of our own making')
        : warn(
            'certificate',
            'of our own making: servers that ask for a valid one (MTA-STS) will not deliver',
            `Get one for ${config.mailHostname} (with certbot, for instance) and set SMTP_TLS_CERT_FILE and SMTP_TLS_KEY_FILE`,
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
  const renew = 'Renew it; SMTP takes the new files by itself';
  if (days < 0) findings.push(fail('certificate', `ended ${-days} days ago, on ${certificate.validTo}`, renew));
  else if (days < FEW_DAYS)
    findings.push(warn('certificate', `ends in ${days} days, on ${certificate.validTo}`, renew));
  else findings.push(ok('certificate', `good for ${days} more days`));
  if (certificate.checkHost(config.mailHostname) === undefined)
    findings.push(
      fail(
        'name',
        `is for ${certificate.subjectAltName ?? certificate.subject}, and not for ${config.mailHostname}`,
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
        'Put the whole chain (fullchain.pem) into SMTP_TLS_CERT_FILE, or take a certificate of a public authority',
      ),
    );
  const onDisk = await readFile(file).then(
    (pem) => new X509Certificate(pem),
    () => null,
  );
  if (onDisk === null)
    findings.push(
      fail('file', `${file} cannot be read as a certificate`, 'Put the file back before SMTP is started again'),
    );
  else if (onDisk.fingerprint256 !== certificate.fingerprint256)
    findings.push(
      warn(
        'file',
        `${file} holds another certificate than SMTP shows`,
        'It is taken within a minute; else read the log of SMTP',
      ),
    );
  return findings;
}
