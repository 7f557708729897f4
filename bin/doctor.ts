import { diagnose, isWithoutFailure } from './doctor/diagnose.ts';
import { printFindings } from './doctor/print-findings.ts';
import { processEnvironment } from './environment.ts';
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

const findings = await diagnose(processEnvironment(), {
  outbound: options['outbound'] ?? null,
  networks: options['networks'] ?? null,
});
const isWell = isWithoutFailure(findings);
process.stdout.write(
  options['json'] === 'true'
    ? `${JSON.stringify({ isWell, findings })}\n`
    : printFindings(findings, process.stdout.isTTY && process.stdout.hasColors()),
);
process.exitCode = isWell ? 0 : 1;
