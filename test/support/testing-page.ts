import type { LastResult } from './last-results.ts';
import type { ExperimentTests } from './stages/fault-experiments.ts';
import { faultExperiments } from './stages/fault-experiments.ts';
import { securityCases } from './stages/security-cases.ts';

/** Returns the text of docs/testing.md. `long` lists the files of `npm run test:long`. */
export function testingPage(long: readonly string[], results: readonly LastResult[]): string {
  return [
    '# Tests',
    '',
    '| command | what it runs |',
    '|---|---|',
    '| `npm test` | `*.test.ts`: everything that needs no process but PostgreSQL and nats-server. Installs the programs it needs on Debian. |',
    '| `npm run test:program` | `*.program.ts`: tests that start Node as a process: the service, its programs, an actor that is killed, the command line, a client. `test/support/no-programs.ts` keeps them out of `npm test`. |',
    '| `npm run test:attack` | `*.attack.ts`: kills and outages, with one kill per fault point, exhaustion of memory and processor, and every operation tried by other accounts, roles and keys |',
    '| `npm run test:long` | the [long experiments](#long-experiments), with three kills per fault point and longer outages |',
    '| `npm run mutants` | each small defect of `test/mutants/mutants.jsonl` with the test file that must notice it. For use before a release. |',
    '| `npm run test:browser` | every page of the dashboard, what people do there, and hostile mail, in a browser (`*.browser.ts`). With `BROWSER_LENGTH=full`, each document by itself and each page in the dark. |',
    '| `npm run test:engine` | the container image and `docker-compose.yml` on a Docker engine. Needs root. |',
    '| `npm run chaos` | every fault experiment at full length. Results: [chaos.md](chaos.md) |',
    '| `.ci/run` | `npm ci`, `npm run check`, the contracts, `npm test`, `npm run test:program`, `npm run test:attack` and `npm run test:browser`. With `CI_LONG=1`, also `npm run test:long`. |',
    '',
    'The last line of a run is `N passed, N failed, N skipped`. No test is repeated. Each skipped test is printed with its reason from `.ci/skips`;',
    '`.ci/run` fails if a test is skipped whose file is not listed there. Each command takes files and folders of its tests as arguments.',
    'Tests start the service as `npm start` does, from its built code. These commands build it if the sources have changed; `npx vitest run` runs changed sources as they are.',
    '',
    'A whole run of these commands writes its result here:',
    '',
    '| command | last result | date | commit |',
    '|---|---|---|---|',
    ...KEPT_COMMANDS.map((command) => resultRow(command, results)),
    '',
    '## Long experiments',
    '',
    `The ${long.length} files of \`npm run test:long\` are \`*.long.ts\`, which no other command runs, and the tests that import \`chaos-figures.ts\`, which run`,
    'in their own command with fewer kills, clients or variants. `npx vitest list --filesOnly --config vitest.long.config.ts` lists them.',
    '',
    '## Fault experiments',
    '',
    `[Fault experiments](chaos.md) has ${faultExperiments.length} faults with what must hold and the last result of each; \`test/support/stages/fault-experiments.ts\` names the tests of each.`,
    '',
    '## Security cases',
    '',
    '| id | attempt | expected | tests |',
    '|---|---|---|---|',
    ...securityCases.map(({ id, attempt, expected, tests }) => testingRow(id, attempt, expected, tests)),
    '',
    '`npm run testing-page` writes this page from `test/support/stages/security-cases.ts` and the last results in `docs/test-results.json`.',
    '',
  ].join('\n');
}

const KEPT_COMMANDS = [
  'npm run mutants',
  'npm run test:program',
  'npm run test:attack',
  'npm run test:browser',
  'npm run test:long',
] as const;

function resultRow(command: string, results: readonly LastResult[]): string {
  const last = results.find((each) => each.command === command);
  return `| \`${command}\` | ${last === undefined ? '**no whole run yet** | |' : `${last.result} | ${last.date} | ${last.commit}`} |`;
}

/** Returns a row of the tables of docs/testing.md. */
export function testingRow(id: string, attempt: string, expected: string, tests: readonly ExperimentTests[]): string {
  const shown = tests.map(({ file, name, row: value }) => {
    const title = [name, value].filter((part) => part !== undefined).join(' … ');
    return title === '' ? `\`${file}\`` : `\`${file}\` (${title})`;
  });
  const cells = [id, attempt, expected, shown.length === 0 ? '**no test**' : shown.join('<br>')];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
