import { listsHost } from '../../core/sending/mta-sts-policy.ts';
import type { FoundPolicy } from './mta-sts.ts';
import type { MailHost } from './resolve-destination.ts';
import type { HostSecurity, RouteHost } from './route.ts';

/** The hosts of a destination with what each must offer, or why none may be used. */
export type SecuredHosts = { hosts: RouteHost[] } | { refusal: string };

/**
 * Applies the policy of the recipients' domain to its mail servers (RFC 8461 §5). In mode `enforce`, hosts that it does not list are left out,
 * and the others must offer TLS with a valid certificate for their name. In mode `testing`, mail is delivered as without a policy.
 */
export function secureHosts(domain: string, hosts: readonly MailHost[], { policy }: FoundPolicy): SecuredHosts {
  if (policy?.mode !== 'enforce') return { hosts: [...hosts] };
  const listed = hosts.filter(({ name }) => listsHost(policy, name));
  if (listed.length === 0) {
    const names = hosts.map(({ name }) => name).join(', ');
    return { refusal: `The MTA-STS policy of ${domain} does not list its mail servers (${names})` };
  }
  const security: HostSecurity = {
    tls: 'required',
    isCertificateVerified: true,
    requiredBy: `The MTA-STS policy of ${domain} requires TLS with a valid certificate`,
  };
  return { hosts: listed.map((host) => ({ ...host, security })) };
}
