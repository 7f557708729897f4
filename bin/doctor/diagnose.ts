import type { Config } from '../config.ts';
import type { Environment } from '../environment.ts';
import { checkBus } from './check-bus.ts';
import { checkConfiguration } from './check-configuration.ts';
import { checkDatabase } from './check-database.ts';
import { checkDns } from './check-dns.ts';
import { checkHttp } from './check-http.ts';
import { checkMachine } from './check-machine.ts';
import { checkNetworks } from './check-networks.ts';
import { checkOutbound } from './check-outbound.ts';
import { checkScanners } from './check-scanners.ts';
import { checkSmtp } from './check-smtp.ts';
import { checkWork } from './check-work.ts';
import { type Area, areas, describeError, type Finding, toFindings } from './finding.ts';

export interface DiagnoseOptions {
  /** also connects to the mail server of this domain; null: of none */
  outbound: string | null;
  /** in a container: the networks of docker-compose.yml, to compare with its addresses; null: compares nothing */
  networks: string | null;
}

/** Returns the findings of every check of a service with this environment, by area. If a variable is invalid, checks nothing else. */
export async function diagnose(environment: Environment, options: DiagnoseOptions): Promise<Finding[]> {
  const { config, findings } = checkConfiguration(environment);
  if (config !== null)
    findings.push(...checkNetworks(config, options.networks), ...(await lookAtAll(config, options.outbound)));
  return findings.toSorted((a, b) => areas.indexOf(a.area) - areas.indexOf(b.area));
}

export function isWithoutFailure(findings: readonly Finding[]): boolean {
  return findings.every(({ state }) => state !== 'fail');
}

async function lookAtAll(config: Config, outbound: string | null): Promise<Finding[]> {
  const looks: [area: Area, look: Promise<Finding[]>][] = [
    ['machine', checkMachine(config)],
    ['PostgreSQL', checkDatabase(config, checkWork)],
    ['bus', checkBus(config)],
    ['SMTP', checkSmtp(config, new Date())],
    ['SMTP', checkOutbound(config, outbound)],
    ['scanners', checkScanners(config)],
    ['HTTP', checkHttp(config)],
    ['DNS', checkDns(config)],
  ];
  const all = await Promise.all(
    looks.map(([area, look]) =>
      // A check that throws hides none of the others.
      look.catch((error: unknown) => [
        toFindings(area).fail(
          'look',
          `check failed: ${describeError(error)}`,
          'Fix the problems above and run the doctor again',
        ),
      ]),
    ),
  );
  return all.flat();
}
