import type { Logger } from 'pino';

/** Alerts with which a client of TLS ends a handshake because of our certificate (RFC 8446 §6.2), as OpenSSL names them. */
const REFUSALS =
  /ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|CERTIFICATE_EXPIRED|UNSUPPORTED_CERTIFICATE)|ALERT_NUMBER_4[2-8]/;

/** Logs that a client does not trust our certificate, if an error of its connection says so. */
export function logRefusedCertificate(log: Logger, error: unknown, remoteAddress: string | undefined): void {
  const { code = '' } = error as { code?: string };
  if (!REFUSALS.test(code)) return;
  log.warn(
    { event: 'smtp.certificate-refused', remoteAddress, reason: code },
    'a client refused the certificate: it must trust the certificate file, or the server must have one of a public authority (docs/submission.md)',
  );
}
