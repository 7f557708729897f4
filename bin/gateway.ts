import { collectGarbage } from '../actors/work/collect-garbage.ts';
import { loginUrl } from '../db/connection/logins.ts';
import { readArguments } from './runner/command-line.ts';
import { openLoggedDatabase } from './runner/logged-database.ts';
import { warnOfOpenSettings } from './runner/open-settings.ts';
import { beginWithAllocation } from './runner/processes/allocation.ts';
import { runSplitProcess } from './runner/processes/split-process.ts';

readArguments({
  usage: `Usage: npx node bin/gateway.ts

Serves REST, GraphQL, GET /health and GET /ready as a separate process. You can run any number of
them. Requires DATABASE_URL (without user and password), NATS_URL and SECRET_KEY.`,
});

beginWithAllocation();

/** PostgreSQL connections: 20 in total on two cores. */
const CONNECTIONS = 8;
const AUTH_CONNECTIONS = 2;
const DRAIN_LIMIT_MS = 9_700;
/** Time for keep-alive clients to send one more request, whose response tells them that the connection closes. Milliseconds. */
const QUIET_MS = 2_000;

const options = {
  name: 'gateway',
  roles: ['postroom_gateway', 'postroom_auth'],
  connections: CONNECTIONS,
  isUsefulWithoutBus: true,
} as const;

await runSplitProcess(options, async (process) => {
  warnOfOpenSettings(process.config, process.log);
  const auth = openLoggedDatabase(
    {
      url: loginUrl(process.databaseUrl, 'postroom_auth', process.secretKey),
      role: 'postroom_auth',
      poolSize: AUTH_CONNECTIONS,
      applicationName: 'postroom auth',
    },
    process.log,
  );
  process.closers.add('database connections of accounts', auth.close);
  // Most of the modules, which --help and a refused start do without; GraphQL at once, so that no client waits for it after a rollout.
  const [{ openGateway }] = await Promise.all([
    import('./runner/processes/gateway.ts'),
    import('../gateway/graphql/yoga.ts'),
  ]);
  const gateway = await openGateway({
    ...process,
    authDatabase: auth.database,
    requestLimitStore: 'shared',
    quietMs: QUIET_MS,
  });
  process.closers.add('gateway', () => gateway.close(), DRAIN_LIMIT_MS);
  // Loading the modules leaves 100 MB of empty pages, which a busy process would keep.
  collectGarbage('last-resort');
});
