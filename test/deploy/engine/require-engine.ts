import { spawnSync } from 'node:child_process';

/** Ends the run at once, with what is missing, on a machine that cannot run the tests of the Docker engine. */
export function setup(): void {
  const isGiven = process.env['DOCKER_HOST'] !== undefined;
  const programs = isGiven ? ['docker', 'debootstrap'] : ['dockerd', 'docker', 'debootstrap'];
  const missing = programs.filter((program) => spawnSync(program, ['--version']).error !== undefined);
  if (missing.length === 0) return;
  throw new Error(
    `npm run test:engine needs ${missing.join(', ')}. On Debian: apt-get install docker.io debootstrap swaks. Set DOCKER_HOST to use an engine that runs already.`,
  );
}
