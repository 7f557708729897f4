import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take half a minute or more, the longest first: what comes last should be short, so that no core is idle at the end. Those
 * that mostly wait for time limits of real processes stand beside those that need a core, and browsers are far from one another.
 */
const LONG = [
  'flow/faults-split',
  'dashboard/hostile-mail',
  'flow/corpus',
  'actors/receiving/parse-pool',
  'flow/sending-faults',
  'dashboard/pages',
  'gateway/isolation-sweep',
  'flow/forwarding-faults',
  'bin/start',
  'dashboard/accounts',
  'flow/faults',
  'actors/sending/leases',
  'dashboard/activity',
  'haraka-plugins/trouble',
  'actors/delivery/ask-model',
  'flow/domain',
  'dashboard/domains',
  'corpus/threads',
  'flow/sending',
  'actors/scheduling/check-domains',
  'dashboard/inbox',
  'flow/outgoing-hostile',
  'flow/forwarding',
  'dashboard/composer',
  'flow/scheduling',
  'haraka-plugins/limits',
  'dashboard/scheduled',
  'flow/guard-agreement',
  'flow/inbound',
  'dashboard/keys',
  'actors/delivery/forward',
  'gateway/isolation',
  'actors/delivery/guarded-hostile-mail',
  'dashboard/endpoints',
];

/** By folder, what starts processes before what does not. */
const FOLDERS = [
  'dashboard',
  'flow',
  'clients',
  'bin',
  'haraka-plugins',
  'actors',
  'corpus',
  'gateway',
  'operations',
  'db',
  'core',
];

/** The order of test files; one that is listed nowhere comes after those of its folder, as vitest itself would have it. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => placeOf(one.moduleId) - placeOf(other.moduleId));
  }
}

function placeOf(file: string): number {
  const name = /\/test\/(.*)\.test\.ts$/.exec(file)?.[1] ?? '';
  const place = LONG.indexOf(name);
  if (place !== -1) return place;
  const folder = FOLDERS.indexOf(name.split('/')[0] ?? '');
  return LONG.length + (folder === -1 ? FOLDERS.length : folder);
}
