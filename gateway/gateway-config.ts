import type { RequestLogLevel } from '../core/accounts/logged-request.ts';
import type { GroupRole } from '../core/accounts/sign-in.ts';
import type { MtaStsMode } from '../core/domains/mta-sts.ts';
import type { DmarcRules } from '../core/screening/door/dmarc-enforcement.ts';
import type { Retention } from '../core/upkeep/retention.ts';
import type { LocalSetting } from './admission/forwarded-requests.ts';

/** The single sign-on of the whole service. */
export interface ServiceProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** whose addresses it speaks for; lower case */
  domains: readonly string[];
  /** whether addresses count without the claim email_verified */
  trustsAddresses: boolean;
  /** whether persons sign in by single sign-on only, and by links of the operator */
  isRequired: boolean;
  /** the workspace that persons join with the role of their groups, and without which none gets in; null: they join none */
  joins: { ownerEmail: string; groupRoles: readonly GroupRole[] } | null;
}

/** Configuration of the gateway. */
export interface GatewayConfig {
  /** base URL of links, without a trailing slash */
  publicUrl: string;
  /** base of links in List-Unsubscribe; none if omitted */
  unsubscribeUrl?: string | null;
  mailHostname: string;
  /** see core/domains/mta-sts.ts; the default is `testing` */
  mtaStsMode?: MtaStsMode;
  /** where users can send test mail over SMTP */
  smtp: { host: string; port: number };
  /** version of Postroom */
  version: string;
  /** domains that need no DNS verification; lower case */
  trustedDomains: readonly string[];
  /** 32 bytes; see core/shared/secret-box.ts */
  secretKey: Uint8Array;
  /** for each user; 0 means no limit */
  rateLimitPerSecond: number;
  /** where requests are counted: `memory` for a single gateway, `shared` over all gateways of a database */
  requestLimitStore: 'memory' | 'shared';
  /** emails that a user may send per hour; 0 means no limit */
  sendLimitPerHour: number;
  /** days that mail waits for approval at most; DEFAULT_APPROVAL_DAYS if omitted */
  approvalDays?: number;
  /** maximum open streams and waits of one user on this gateway */
  streamLimitPerUser: number;
  /** whether the audit log has who reads which email; false if omitted */
  auditReads?: boolean;
  /** what is logged of requests with API keys; `on` if omitted */
  requestLog?: RequestLogLevel;
  /** default retention of mail; forever if omitted */
  retention?: Retention;
  /** whether guard rules of type ai_prompt are available */
  hasGuardModel: boolean;
  /** whether a spam filter learns from what users mark */
  hasSpamFilter: boolean;
  /** which mail that fails DMARC is held or refused; none if omitted */
  dmarc?: DmarcRules;
  /** private networks (CIDR) that webhooks may reach */
  allowedPrivateNetworks: readonly string[];
  /** ports of our own servers, which webhooks may never reach */
  ownPorts: readonly number[];
  /** `host:port` of the resolvers for requests to sign-in providers, and for documents of OAuth clients; the system's if omitted */
  dnsServers?: readonly string[];
  /** PEM certificates of authorities that these servers may use besides the public ones; none if omitted */
  trustedCertificates?: readonly string[] | null;
  /** clients of OAuth that may register themselves; MAX_OAUTH_CLIENTS if omitted */
  oauthClients?: number;
  /** whether anyone can create an account */
  isSignUpOpen: boolean;
  /** the domain below which agents that sign up get inboxes; null or omitted: agents cannot sign up */
  agentSignUpDomain?: string | null;
  /** the single sign-on of the service; null or omitted: none */
  oidc?: ServiceProvider | null;
  /** settings that are open because only this machine reaches the service; none if omitted */
  openForLocal?: readonly LocalSetting[];
  /** sender address of system mail */
  systemMailFrom: string;
  /** addresses and CIDRs whose X-Forwarded-For is trusted */
  trustedProxies: readonly string[];
  /** connections of all clients; MAX_CONNECTIONS if omitted */
  connections?: number;
  /** connections of one client address; MAX_CONNECTIONS_PER_ADDRESS if omitted */
  connectionsPerAddress?: number;
  /** new HTTP connections of one network in a minute; 0: no limit; 6,000 if omitted */
  connectionsPerMinute?: number;
}
