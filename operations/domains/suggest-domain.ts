import { isNameOfService, isTrustedDomain, trustedNamesFor } from '../../core/domains/trusted-domain.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { isHostedName, listTrustedNames } from '../../db/queries/domains/domain-list.ts';
import { readAccount } from '../accounts/account.ts';
import type { OperationContext } from '../context.ts';
import { serviceHosts } from './domains.ts';

/** Returns a name that the account can add without DNS records; null when the service has none, or the account has one. */
export async function suggestDomain(context: OperationContext): Promise<string | null> {
  const { database, workspaceId, settings } = context;
  const { email } = await readAccount(context);
  const names = trustedNamesFor(email ?? '', settings.trustedDomains);
  if (names.length === 0) return null;
  return asWorkspace(database, workspaceId, async (transaction) => {
    const own = await listTrustedNames(transaction, workspaceId);
    if (own.some((name) => isTrustedDomain(name, settings.trustedDomains))) return null;
    for (const name of names) {
      const isOfService = isNameOfService(name, settings.trustedDomains, serviceHosts(settings));
      if (!isOfService && !(await isHostedName(transaction, name))) return name;
    }
    return null;
  });
}
