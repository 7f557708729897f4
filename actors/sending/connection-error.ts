type SystemError = Error & { code?: unknown; originalCode?: unknown; errors?: unknown };

/** Returns a short text for the user, from the code of the error alone. */
export function describeConnectionError(error: Error): string {
  const code = connectionErrorCode(error);
  const known = code === null ? undefined : TEXTS[code];
  if (known !== undefined) return known;
  if (code !== null && /CERT|SSL|TLS|SELF_SIGNED|ISSUER/.test(code))
    return `the certificate or handshake failed (${code})`;
  return code === null ? 'The connection failed' : `The connection failed (${code})`;
}

/** Whether the error means that a server did not respond in time. */
export function isTimeout(error: Error): boolean {
  return connectionErrorCode(error) === 'ETIMEDOUT';
}

const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Connection refused',
  ECONNRESET: 'The server closed the connection',
  EPIPE: 'The server closed the connection',
  ECONNECTION: 'The server closed the connection',
  ETIMEDOUT: 'The connection timed out',
  EHOSTUNREACH: 'Host unreachable',
  ENETUNREACH: 'Network unreachable',
  EADDRNOTAVAIL: 'Network unreachable',
  ENOTFOUND: 'Host not found',
  EAI_AGAIN: 'The host name could not be looked up',
  EPROTOCOL: 'The server does not speak SMTP',
  EAUTH: 'The server offers no way to authenticate',
  ETLS: 'the server does not offer STARTTLS or refused it',
};

/** Returns the code of an error; null without one. nodemailer keeps the system's code in a separate property. */
export function connectionErrorCode(error: SystemError): string | null {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return connectionErrorCode(error.errors[0]);
  if (typeof error.originalCode === 'string') return error.originalCode;
  return typeof error.code === 'string' ? error.code : null;
}
