import { createRequire } from 'node:module';
import { Connection } from 'haraka/connection.js';
import plugins, { type Callback } from 'haraka/plugins.js';
import constants from 'haraka-constants';

const { state: states } = constants.connection;

/** Haraka runs these also for a session that has ended. */
const REQUIRED_HOOKS: ReadonlySet<string> = new Set(['reset_transaction', 'disconnect']);

/**
 * Takes out of Haraka's sessions what only other plugins would use. Of the work that Haraka does for a session with one message, that is
 * two fifths:
 *
 * - Hooks: Haraka keeps a queue of the plugins of each hook, a timer, and a second round of hooks for refusals. We have one plugin, which
 *   always calls back, with time limits of its own (`answering`).
 * - Results: what each hook found, formatted for logs and Redis.
 * - Its log below warnings (config/log.ini): each line is made before it is dropped.
 *
 * Throws when there is more than one plugin. Called once, when the plugins are registered.
 */
export function leaveOutWhatOthersUse(): void {
  const runOthers = plugins.run_hooks.bind(plugins);
  plugins.run_hooks = (hook, object, params) => {
    if (object instanceof Connection) runHook(hook, object, params);
    else runOthers(hook, object, params);
  };
  leaveOutReset();
  leaveOutResults();
  for (const level of ['data', 'protocol', 'debug', 'info', 'notice'] as const)
    Connection.prototype[`log${level}`] = () => undefined;
}

/** What `plugins.run_hooks` and `plugins.run_next_hook` do for a session, with at most one plugin. */
function runHook(hook: string, connection: Connection, params: unknown): void {
  const isRequired = REQUIRED_HOOKS.has(hook);
  const isOver = () => !isRequired && connection.state >= states.DISCONNECTING;
  if (isOver()) return;
  // The hook in progress is given up.
  if (isRequired) connection.current_hook?.[2]();
  const respond = (verdict: number, message: unknown): void => {
    connection.current_hook = null;
    (connection as unknown as Record<string, Respond>)[`${hook}_respond`]?.(verdict, message, params);
  };
  const [registered, another] = plugins.registered_hooks[hook] ?? [];
  if (another !== undefined) throw new Error(`more than one plugin has the hook ${hook}`);
  const plugin = registered === undefined ? undefined : plugins.registered_plugins[registered.plugin];
  if (registered === undefined || plugin === undefined) return respond(constants.cont, undefined);
  let isDone = false;
  const callback: Callback = (verdict = constants.cont, message) => {
    if (isDone) return;
    isDone = true;
    if (isOver()) connection.current_hook = null;
    else respond(verdict, message);
  };
  connection.current_hook = [plugin, registered.method, () => (isDone = true)];
  plugin[registered.method]?.(callback, connection, params);
}

type Respond = (verdict: number, message: unknown, params: unknown) => void;

/** Nothing waits for the end of a transaction, so the session is not paused for it. */
function leaveOutReset(): void {
  Connection.prototype.reset_transaction = function (this: Connection, after?: () => void): void {
    this.transaction?.message_stream.destroy();
    this.transaction = null;
    after?.();
  };
}

interface HarakaConfig {
  get(name: string, ...rest: unknown[]): unknown;
}

function leaveOutResults(): void {
  const load = createRequire(createRequire(import.meta.url).resolve('haraka/package.json'));
  const { prototype } = load('haraka-results') as { prototype: Record<'add' | 'push' | 'incr', () => void> };
  for (const method of ['add', 'push', 'incr'] as const) prototype[method] = () => undefined;
  // Each session and transaction reads the settings of results and the name of the server, which Haraka copies and merges each time.
  const config = load('haraka-config') as HarakaConfig;
  const get = config.get.bind(config);
  const known = new Map<string, unknown>([
    ['results.ini', get('results.ini', { booleans: ['+main.redis_publish'] })],
    ['me', get('me')],
  ]);
  config.get = (name, ...rest) => known.get(name) ?? get(name, ...rest);
}
