import { type Command, Option } from 'commander';
import { describeError, type Finding, toFindings } from '../doctor/finding.ts';
import { printFindings } from '../doctor/print-findings.ts';
import { processEnvironment } from '../environment.ts';
import { VERSION } from '../runner/version.ts';
import { CommandError, EXIT } from './command-error.ts';
import { addServerOptions, connect, type Server, type ServerOptions } from './connect.ts';
import { addJsonOption, print, printJson } from './output.ts';
import { type Identity, rightsInWords, whoAmI } from './who-am-i.ts';

export function addDoctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description('Checks the server, the API key and the clock, and says how to fix each problem.')
    .addOption(
      new Option('--server', 'also check the service of this machine, with its environment, as bin/doctor.ts does'),
    );
  addJsonOption(addServerOptions(command))
    .addHelpText(
      'after',
      `
Changes nothing. Exits with 1 if there is a problem.

Examples:
  $ postroom doctor
  $ postroom doctor --server --json`,
    )
    .action(examine);
}

async function examine(options: ServerOptions & { server?: true; json?: true }): Promise<void> {
  const findings = await checkClient(options);
  if (options.server === true) {
    const { diagnose } = await import('../doctor/diagnose.ts');
    findings.push(...(await diagnose(processEnvironment(), { outbound: null, networks: null })));
  }
  const isWell = findings.every(({ state }) => state !== 'fail');
  if (options.json === true) printJson({ isWell, findings });
  else print(printFindings(findings, process.stdout.isTTY && process.stdout.hasColors()).trimEnd());
  process.exitCode = isWell ? EXIT.ok : EXIT.failure;
}

const { ok, skip, warn, fail } = toFindings('command line');

/** Checks in the order in which they depend on each other; the first that fails ends them. */
async function checkClient(options: ServerOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    const server = await connect(options, { retries: 0 });
    findings.push(ok('API key', 'there is one for this server'));
    findings.push(...(await checkServer(server.url)));
    const identity = await whoAmI(server);
    findings.push(...checkIdentity(server, identity));
  } catch (error) {
    const next = error instanceof CommandError ? error.next : null;
    findings.push(fail('server and key', describeError(error), next ?? 'Run postroom init'));
  }
  return findings;
}

/** How far the clocks may be apart, in milliseconds; the Date field has whole seconds. */
const CLOCK_TOLERANCE_MS = 5_000;
const LIMIT_MS = 10_000;

async function checkServer(url: string): Promise<Finding[]> {
  const startedTick = performance.now();
  const response = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(LIMIT_MS), redirect: 'manual' }).catch(
    (error: unknown) => {
      const { cause } = error as { cause?: unknown };
      throw new CommandError(`${url} cannot be reached: ${describeError(cause ?? error)}`, {
        next: 'Check that the server runs, and the URL: --url, POSTROOM_URL, or postroom init.',
      });
    },
  );
  const milliseconds = Math.round(performance.now() - startedTick);
  const { status = '', missing = [] } = (await response.json().catch(() => ({}))) as {
    status?: string;
    missing?: string[];
  };
  const reached =
    status === 'ok'
      ? ok('server', `${url} is ready and responded in ${milliseconds} ms`)
      : warn(
          'server',
          `${url} is ${status || `not ready (${response.status})`} ${missing.join(', ')}`.trim(),
          'Check the service: npx node bin/doctor.ts',
        );
  return [reached, checkClock(response.headers.get('date'))];
}

function checkClock(date: string | null): Finding {
  const apartMs = date === null ? Number.NaN : Date.now() - new Date(date).getTime();
  if (Number.isNaN(apartMs)) return skip('clock', 'the server did not say its time');
  if (Math.abs(apartMs) <= CLOCK_TOLERANCE_MS) return ok('clock', 'agrees with the server');
  const seconds = Math.round(Math.abs(apartMs) / 1_000);
  return warn(
    'clock',
    `this machine is ${seconds} s ${apartMs > 0 ? 'ahead of' : 'behind'} the server`,
    'Synchronize both clocks. Until then --since with a duration is off by as much',
  );
}

function checkIdentity({ url }: Server, identity: Identity): Finding[] {
  const { version } = identity.server;
  const unverified = identity.domains.filter(({ status }) => status !== 'verified').map(({ name }) => name);
  return [
    ok('account', identity.account?.email ?? 'not visible for this key'),
    checkRights(identity),
    version === VERSION
      ? ok('version', `${version}, as the server`)
      : warn(
          'version',
          `${VERSION}, and the server has ${version}`,
          `Use the postroom of the release that ${url} runs`,
        ),
    ...(unverified.length === 0
      ? []
      : [
          warn('domains', `not verified: ${unverified.join(', ')}`, 'Publish the DNS records that the dashboard shows'),
        ]),
  ];
}

function checkRights(identity: Identity): Finding {
  const rights = rightsInWords(identity);
  const { scopes } = identity.key;
  const missing = ['read', 'send'].filter((scope) => !scopes.includes(scope));
  return missing.length === 0
    ? ok('rights', rights)
    : warn('rights', rights, `Commands that ${missing.join(' or ')} mail need a key with that scope`);
}
