import type { MtaStsMode } from '../core/domains/mta-sts.ts';
import type { Retention } from '../core/upkeep/retention.ts';

/** What the gateway is told of the service. */
export interface GatewayConfig {
  /** base of links, without a slash at its end */
  publicUrl: string;
  mailHostname: string;
  /** see core/domains/mta-sts.ts; `testing` unless told */
  mtaStsMode?: MtaStsMode;
  /** where people hand mail over to try the service out */
  smtp: { host: string; port: number };
  /** of the service */
  version: string;
  /** added without proof by DNS; lower case */
  trustedDomains: readonly string[];
  /** 32 bytes; see core/shared/secret-box.ts */
  secretKey: Uint8Array;
  /** of each user; 0: no limit */
  rateLimitPerSecond: number;
  /** where requests are counted: `memory` when this gateway is the only one, `shared` over all gateways of a database */
  requestLimitStore: 'memory' | 'shared';
  /** messages that a user may send within an hour; 0: no limit */
  sendLimitPerHour: number;
  /** open streams and waits of one user on this gateway */
  streamLimitPerUser: number;
  /** how long mail of users is kept who chose nothing; for ever unless told */
  retention?: Retention;
  /** whether guard rules of type ai_prompt can be made */
  hasGuardModel: boolean;
  /** CIDRs that webhooks may reach in spite of the guard */
  allowedPrivateNetworks: readonly string[];
  /** ports of our own listeners, which webhooks may never reach */
  ownPorts: readonly number[];
  /** whether anybody may make an account */
  isSignUpOpen: boolean;
  /** the address that the service's own mail is from */
  systemMailFrom: string;
  /** addresses and CIDRs whose X-Forwarded-For is believed */
  trustedProxies: readonly string[];
}
