import { mtaStsDomainOf, mtaStsPolicy } from '../../core/domains/mta-sts.ts';
import { isHostedDomain } from '../../db/queries/domains/domain-owner.ts';
import type { OperationParts } from '../context.ts';

/** The MTA-STS policy that is asked for by that Host header field; null when it is that of no verified domain. Whoever asks may know. */
export async function readMtaStsPolicy({ database, settings }: OperationParts, host: string): Promise<string | null> {
  const domain = mtaStsDomainOf(host);
  if (domain === null || !(await isHostedDomain(database, domain))) return null;
  return mtaStsPolicy(settings.mtaStsMode, settings.mailHostname);
}
