import { spawnSync } from 'node:child_process';

/**
 * The environment in which libfaketime sets the clock of a process to what the file FAKETIME_TIMESTAMP_FILE says (`+3600`: an hour
 * ahead), read again each second. The monotonic clock is left as it is. Null when `faketime` is not installed.
 */
export function faketimeEnvironment(): Record<string, string> | null {
  const { status, stdout } = spawnSync('faketime', ['-m', '-f', '+0', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' });
  if (status !== 0) return null;
  return { LD_PRELOAD: stdout.trim(), FAKETIME_CACHE_DURATION: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}
