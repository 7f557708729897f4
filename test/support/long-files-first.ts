import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files and folders in the order of their start, by the beginnings of their names; the longest match counts. Those that take half a
 * minute or more come first, the longest of them foremost: what comes last should be short, so that no core is idle at the end. Those
 * that mostly wait for time limits of real processes are beside those that need a core.
 */
const ORDER = [
  'flow/faults-split',
  'flow/sending-faults',
  'flow/large-mail-kills',
  'bin/start',
  'flow/faults',
  'docs/sessions',
  'bin/doctor',
  'flow/event-feed',
  'flow/traces',
  'flow/metrics',
  'flow/scheduling',
  'flow/forwarding-faults',
  'flow/inbound',
  'haraka-plugins/trouble',
  'flow/outgoing-hostile',
  'haraka-plugins/tls-reload',
  'dashboard/',
  'flow/',
  'deploy/',
  'bin/',
  'clients/',
  'haraka-plugins/',
  'corpus/',
  '',
  'core/mime/parse-message',
  'db/queries/accounts/many-workspaces',
  'db/queries/search/',
  'operations/emails/reprocess',
  'operations/search/search',
  'gateway/admission/responses',
  'actors/delivery/events',
  'actors/receiving/parse-pool',
  'actors/scheduling/check-domains',
  'actors/threading/assign-thread',
  'actors/sending/faults',
  'actors/sending/leases',
  'gateway/admission/isolation-sweep',
  'gateway/admission/key-domains',
  'gateway/graphql/graphql-isolation',
  'gateway/accounts/auth-attempts',
  'actors/',
  'operations/',
  'db/',
  'gateway/',
  'schema/',
  'docs/',
  'core/',
];

/** The order of test files; among those of one place it is what vitest itself would have. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => readPlace(one.moduleId) - readPlace(other.moduleId));
  }
}

function readPlace(file: string): number {
  const name = /\/test\/(.*)\.\w+\.ts$/.exec(file)?.[1] ?? '';
  const matches = ORDER.filter((beginning) => name.startsWith(beginning));
  const [longest = ''] = matches.toSorted((one, other) => other.length - one.length);
  return ORDER.indexOf(longest);
}
