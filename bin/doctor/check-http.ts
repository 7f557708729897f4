import { z } from 'zod';
import { type Config, connectableHost } from '../config.ts';
import { isTrial } from './check-configuration.ts';
import { describeError, type Finding, toFindings } from './finding.ts';

const { ok, warn, fail } = toFindings('HTTP');

const LIMIT_MS = 10_000;
const readyShape = z.object({
  status: z.string(),
  missing: z.array(z.string()).optional(),
  forwarded: z.object({ header: z.string(), at: z.string(), closed: z.array(z.string()) }).optional(),
});

/**
 * Asks the gateway whether it is ready, locally and, unless it is a trial, at PUBLIC_URL, and whether a proxy forwards requests to a service
 * that is set up for this machine only.
 */
export async function checkHttp(config: Config): Promise<Finding[]> {
  const here = `http://${bracketed(connectableHost(config.host))}:${config.httpPort}`;
  const start =
    config.databaseUrl === null
      ? 'Start the service (npm start)'
      : 'Start npx node bin/gateway.ts, or set HOST and HTTP_PORT to its address';
  const findings = await ask('gateway', here, (reason) => fail('gateway', `${here}/ready: ${reason}`, start));
  if (isTrial(config)) return findings;
  findings.push(
    ...(await ask('PUBLIC_URL', config.publicUrl, (reason) =>
      warn(
        'PUBLIC_URL',
        `${config.publicUrl}/ready: ${reason}`,
        'Check the proxy and its certificate. Ignore this if only this machine cannot reach it',
      ),
    )),
  );
  return findings;
}

async function ask(name: string, url: string, unreached: (reason: string) => Finding): Promise<Finding[]> {
  try {
    const response = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(LIMIT_MS), redirect: 'error' });
    const body = readyShape.safeParse(await response.json().catch(() => null));
    if (!body.success) return [unreached(`responds with ${response.status}, but not like Postroom`)];
    const { status, missing = [], forwarded } = body.data;
    const proxy = forwarded === undefined ? [] : [proxyFinding(forwarded)];
    if (status === 'ok') return [ok(name, `${url} is ready`), ...proxy];
    const detail = `${url} is ${status}: ${missing.join(', ')} missing`;
    const fix = 'Restore the missing parts. The gateway recovers automatically';
    return [status === 'degraded' ? warn(name, detail, fix) : fail(name, detail, fix), ...proxy];
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    return [unreached(describeError(cause ?? error))];
  }
}

function proxyFinding({ header, at, closed }: { header: string; at: string; closed: readonly string[] }): Finding {
  return warn(
    'proxy',
    `a proxy forwards requests to this service, first at ${at} with the header ${header}, but it is set up for this machine only: ${closed.join(', ')} are closed for them`,
    `Set PUBLIC_URL to the address that clients use and TRUSTED_PROXIES to the address of the proxy${closed.includes('SIGN_UP') ? ', and SIGN_UP=on to let visitors sign up' : ''}`,
  );
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
