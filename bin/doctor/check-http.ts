import { z } from 'zod';
import { type Config, connectableHost } from '../config.ts';
import { isTrial } from './check-configuration.ts';
import { type Finding, findingsOf, wordsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('HTTP');

const LIMIT_MS = 10_000;
const readyShape = z.object({ status: z.string(), missing: z.array(z.string()).optional() });

/** Asks the gateway whether it is ready, here and, when it is not a trial, under PUBLIC_URL. */
export async function checkHttp(config: Config): Promise<Finding[]> {
  const here = `http://${bracketed(connectableHost(config.host))}:${config.httpPort}`;
  const start =
    config.databaseUrl === null
      ? 'Start the service (npm start)'
      : 'Start npx node bin/gateway.ts, or set HOST and HTTP_PORT to where it is';
  const findings = [await ask('gateway', here, (reason) => fail('gateway', `${here}/ready: ${reason}`, start))];
  if (isTrial(config)) return findings;
  findings.push(
    await ask('PUBLIC_URL', config.publicUrl, (reason) =>
      warn(
        'PUBLIC_URL',
        `${config.publicUrl}/ready: ${reason}`,
        'Look at the proxy and its certificate; when only this machine has no way there, nothing is amiss',
      ),
    ),
  );
  return findings;
}

async function ask(name: string, url: string, unreached: (reason: string) => Finding): Promise<Finding> {
  try {
    const response = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(LIMIT_MS), redirect: 'error' });
    const body = readyShape.safeParse(await response.json().catch(() => null));
    if (!body.success) return unreached(`answers ${response.status}, and not as Postroom does`);
    const { status, missing = [] } = body.data;
    if (status === 'ok') return ok(name, `${url} is ready`);
    const detail = `${url} is ${status}: ${missing.join(', ')} missing`;
    const mend = 'See to what is missing; it goes on by itself';
    return status === 'degraded' ? warn(name, detail, mend) : fail(name, detail, mend);
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    return unreached(wordsOf(cause ?? error));
  }
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
