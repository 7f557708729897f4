import type { Config } from './config.ts';
import { checkBus } from './doctor/check-bus.ts';
import { checkConfiguration } from './doctor/check-configuration.ts';
import { checkDatabase } from './doctor/check-database.ts';
import { checkDns } from './doctor/check-dns.ts';
import { checkHttp } from './doctor/check-http.ts';
import { checkMachine } from './doctor/check-machine.ts';
import { checkNetworks } from './doctor/check-networks.ts';
import { checkOutbound } from './doctor/check-outbound.ts';
import { checkSmtp } from './doctor/check-smtp.ts';
import { checkWork } from './doctor/check-work.ts';
import { type Area, areas, type Finding, findingsOf, wordsOf } from './doctor/finding.ts';
import { printFindings } from './doctor/print-findings.ts';
import { readArguments } from './runner/command-line.ts';

const { options } = readArguments({
  options: { json: { type: 'boolean' }, outbound: { type: 'string' }, networks: { type: 'string' } },
  usage: `Usage: npx node bin/doctor.ts [--outbound DOMAIN] [--networks LIST] [--json]

Checks everything that Postroom needs and says how to fix each problem: the configuration, Node, disk
and limits; PostgreSQL, its settings, roles, schema and SECRET_KEY; NATS and the actors behind it; SMTP
with its greeting, STARTTLS and certificate; HTTP; DNS, MAIL_HOSTNAME and its reverse name; the DNS
records of verified domains; overdue work.

It changes nothing, and works whether or not the service runs. Run it with the environment of the
service.

  --outbound D   also connect to the mail server of domain D, to check that mail can leave
  --networks L   in a container: also compare its addresses, and the settings that contain addresses,
                 with the networks of docker-compose.yml (172.31.253.0/24,172.31.254.0/24)
  --json         print one JSON line: {"isWell", "findings": [{area, name, state, detail, fix}]}

Exits with 0 if there are no problems or only warnings, 1 if there are problems, and 2 for an invalid
command line.`,
});

const { config, findings } = checkConfiguration();
if (config !== null) findings.push(...checkNetworks(config, options['networks'] ?? null), ...(await lookAtAll(config)));
const isWell = findings.every(({ state }) => state !== 'fail');
const sorted = findings.toSorted((a, b) => areas.indexOf(a.area) - areas.indexOf(b.area));
process.stdout.write(
  options['json'] === 'true'
    ? `${JSON.stringify({ isWell, findings: sorted })}\n`
    : printFindings(sorted, process.stdout.isTTY && process.stdout.hasColors()),
);
process.exitCode = isWell ? 0 : 1;

async function lookAtAll(given: Config): Promise<Finding[]> {
  const looks: [area: Area, look: Promise<Finding[]>][] = [
    ['machine', checkMachine(given)],
    ['PostgreSQL', checkDatabase(given, checkWork)],
    ['bus', checkBus(given)],
    ['SMTP', checkSmtp(given, new Date())],
    ['SMTP', checkOutbound(given, options['outbound'] ?? null)],
    ['HTTP', checkHttp(given)],
    ['DNS', checkDns(given)],
  ];
  const all = await Promise.all(
    looks.map(([area, look]) =>
      // A check that throws hides none of the others.
      look.catch((error: unknown) => [
        findingsOf(area).fail(
          'look',
          `check failed: ${wordsOf(error)}`,
          'Fix the problems above and run the doctor again',
        ),
      ]),
    ),
  );
  return all.flat();
}
