import { findMtaStsDomain, mtaStsPolicy } from '../../core/domains/mta-sts.ts';
import { isHostedDomain } from '../../db/queries/domains/domain-owner.ts';
import type { OperationParts } from '../context.ts';

/** Returns the MTA-STS policy for a Host header field; null when it names no verified domain. The policy is public. */
export async function readMtaStsPolicy({ database, settings }: OperationParts, host: string): Promise<string | null> {
  const domain = findMtaStsDomain(host);
  if (domain === null || !(await isHostedDomain(database, domain))) return null;
  return mtaStsPolicy(settings.mtaStsMode, settings.mailHostname);
}
