import type { Connection as HarakaConnection } from 'haraka/connection.js';
import type { Callback } from 'haraka/plugins.js';
import constants from 'haraka-constants';
import { pino } from 'pino';
import { beforeAll, expect, test } from 'vitest';
import { loadHaraka } from '../../haraka-plugins/start.ts';

const { state: states } = constants.connection;
let modules: { Connection: typeof HarakaConnection; plugins: typeof import('haraka/plugins.js').default };

beforeAll(async () => {
  await loadHaraka(pino({ level: 'silent' }));
  const { Connection } = await import('haraka/connection.js');
  const { default: plugins } = await import('haraka/plugins.js');
  const { leaveOutWhatOthersUse } = await import('../../haraka-plugins/plugins/receiving/lean-hooks.ts');
  leaveOutWhatOthersUse();
  modules = { Connection, plugins };
});

/** Registers plugins with the hook `test`, and returns a session with what reached it. */
function sessionWith(...methods: ((callback: Callback) => void)[]) {
  const { Connection, plugins } = modules;
  plugins.registered_hooks['test'] = methods.map((_, at) => ({ plugin: `p${at}`, method: 'hook_test' }));
  for (const [at, method] of methods.entries()) plugins.registered_plugins[`p${at}`] = { hook_test: method };
  const heard: unknown[] = [];
  const session = Object.assign(Object.create(Connection.prototype) as HarakaConnection, {
    state: states.CMD,
    current_hook: null,
    transaction: null,
    test_respond: (...verdict: unknown[]) => void heard.push(verdict),
    disconnect_respond: () => void heard.push('disconnected'),
  });
  return { session, heard };
}

test('the plugin of a hook decides once, with a refusal as well', () => {
  const { session, heard } = sessionWith((callback) => {
    callback(constants.deny, 'no');
    callback(constants.ok, 'yes');
  });
  modules.plugins.run_hooks('test', session, 'given');
  expect(heard).toEqual([[constants.deny, 'no', 'given']]);
  expect(session.current_hook).toBeNull();
});

test('a hook without a plugin continues at once', () => {
  const { session, heard } = sessionWith();
  modules.plugins.run_hooks('test', session, 'given');
  expect(heard).toEqual([[constants.cont, undefined, 'given']]);
});

test('a decision that comes after the end of its session is dropped', () => {
  const late: Callback[] = [];
  const { session, heard } = sessionWith((callback) => void late.push(callback));
  modules.plugins.run_hooks('test', session);
  session.state = states.DISCONNECTING;
  modules.plugins.run_hooks('disconnect', session);
  for (const callback of late) callback(constants.ok, 'late');
  expect(heard).toEqual(['disconnected']);
  modules.plugins.run_hooks('test', session);
  expect(late).toHaveLength(1);
});

test('a second plugin with the same hook is refused', () => {
  const { session } = sessionWith(
    (callback) => callback(),
    (callback) => callback(),
  );
  expect(() => modules.plugins.run_hooks('test', session)).toThrow('more than one plugin has the hook test');
});
