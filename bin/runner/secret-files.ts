import { readFileSync } from 'node:fs';

/** Settings that are secrets, or contain one. */
const SECRETS = [
  'DATABASE_URL',
  'NATS_URL',
  'SECRET_KEY',
  'SECRET_KEY_PREVIOUS',
  'OUTBOUND_RELAY_URL',
  'OIDC_CLIENT_SECRET',
  'GUARD_MODEL_KEY',
  'RSPAMD_CONTROLLER_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const;

/**
 * Returns the variables with the secrets that files hold: NAME_FILE names the file of NAME, as Docker, Kubernetes and systemd hand out
 * secrets. White space at the end of a file does not count. Throws what `refuse` makes of a file that cannot be used.
 */
export function readSecretFiles(
  given: Readonly<Record<string, string>>,
  refuse: (reason: string) => Error,
): Record<string, string> {
  const values: Record<string, string> = { ...given };
  for (const name of SECRETS) {
    const file = given[`${name}_FILE`];
    if (file === undefined) continue;
    if (given[name] !== undefined) throw refuse(`${name} and ${name}_FILE are both set: remove one of them`);
    values[name] = readSecret(`${name}_FILE`, file, refuse);
  }
  return values;
}

function readSecret(setting: string, file: string, refuse: (reason: string) => Error): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trimEnd();
  } catch (error) {
    throw refuse(`${setting}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
  if (text === '') throw refuse(`${setting}: ${file} is empty`);
  return text;
}
